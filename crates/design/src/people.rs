//! Words for people and for what they do: these tables grow with the use of an application.

/// Words for people of whom a successful application has millions.
pub const USERS: &[&str] = &[
    "user",
    "customer",
    "member",
    "player",
    "patient",
    "student",
    "driver",
    "rider",
    "subscriber",
    "visitor",
    "follower",
    "passenger",
    "buyer",
    "shopper",
    "guest",
    "usuario",
    "cliente",
    "utilisateur",
    "nutzer",
    "kunde",
    "username",
];

/// Words for what people order, pay and send: each is a new row.
pub const TRADED: &[&str] = &[
    "order",
    "transaction",
    "payment",
    "booking",
    "reservation",
    "trip",
    "ride",
    "session",
    "invoice",
    "shipment",
    "trace",
    "purchase",
    "sale",
    "message",
    "request",
    "parcel",
    "click",
    "visit",
    "pedido",
    "commande",
    "venta",
    "bestellung",
    "post",
    "comment",
];

/// Words for what went wrong: it is rare, or there are other worries.
pub const RARE: &[&str] = &[
    "quarantine",
    "dead",
    "dlq",
    "failed",
    "failure",
    "rejected",
    "reject",
    "invalid",
    "error",
    "incident",
    "poison",
];

/// Words for what everybody takes part in: all its users under its key are a population.
pub const CROWD: &[&str] = &[
    "experiment",
    "campaign",
    "promotion",
    "feature",
    "survey",
    "broadcast",
    "newsletter",
    "segment",
    "cohort",
    "audience",
];

/// Last words of tables that say how something is set up: a new row now and then, by one writer.
pub const ABOUT: &[&str] = &["info", "config", "setting", "metadata", "version", "schema"];
