//! What servers announce on their own: topology, status and schema changes. The schema part is also the body of the
//! RESULT that answers DDL.

use crate::error::WireError;
use crate::reader::Reader;
use crate::version::Version;
use crate::writer::{put_socket_address, put_string, put_string_list, put_u16};
use std::net::SocketAddr;

/// The stream id of every EVENT.
pub const EVENT_STREAM: i16 = -1;

/// A kind of event a client can register for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EventKind {
    TopologyChange = 1,
    StatusChange = 2,
    SchemaChange = 4,
}

impl EventKind {
    pub const ALL: [EventKind; 3] =
        [EventKind::TopologyChange, EventKind::StatusChange, EventKind::SchemaChange];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EventKind::TopologyChange => "TOPOLOGY_CHANGE",
            EventKind::StatusChange => "STATUS_CHANGE",
            EventKind::SchemaChange => "SCHEMA_CHANGE",
        }
    }
}

/// A set of event kinds: the body of REGISTER.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventKinds {
    bits: u8,
}

impl EventKinds {
    #[must_use]
    pub fn contains(self, kind: EventKind) -> bool {
        self.bits & kind as u8 != 0
    }

    pub fn insert(&mut self, kind: EventKind) {
        self.bits |= kind as u8;
    }

    /// Adds the kinds of a further REGISTER.
    pub fn extend(&mut self, other: EventKinds) {
        self.bits |= other.bits;
    }

    #[must_use]
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    pub fn iter(self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<EventKinds, WireError> {
        let mut kinds = EventKinds::default();
        for _ in 0..reader.u16("number of event types")? {
            let name = reader.string("event type")?;
            let kind = EventKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
            kinds.insert(kind.ok_or_else(|| unknown("Type", name))?);
        }
        Ok(kinds)
    }

    pub(crate) fn write(self, out: &mut Vec<u8>) {
        put_u16(out, self.bits.count_ones() as u16);
        for kind in self.iter() {
            put_string(out, kind.name());
        }
    }
}

impl FromIterator<EventKind> for EventKinds {
    fn from_iter<I: IntoIterator<Item = EventKind>>(kinds: I) -> EventKinds {
        let mut set = EventKinds::default();
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}

/// How a node's membership changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TopologyChange {
    NewNode,
    RemovedNode,
    MovedNode,
}

impl TopologyChange {
    const ALL: [TopologyChange; 3] =
        [TopologyChange::NewNode, TopologyChange::RemovedNode, TopologyChange::MovedNode];

    fn name(self) -> &'static str {
        match self {
            TopologyChange::NewNode => "NEW_NODE",
            TopologyChange::RemovedNode => "REMOVED_NODE",
            TopologyChange::MovedNode => "MOVED_NODE",
        }
    }
}

/// Whether a node answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatusChange {
    Up,
    Down,
}

impl StatusChange {
    fn name(self) -> &'static str {
        match self {
            StatusChange::Up => "UP",
            StatusChange::Down => "DOWN",
        }
    }
}

/// What happened to a schema object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Created,
    Updated,
    Dropped,
}

impl ChangeKind {
    const ALL: [ChangeKind; 3] = [ChangeKind::Created, ChangeKind::Updated, ChangeKind::Dropped];

    fn name(self) -> &'static str {
        match self {
            ChangeKind::Created => "CREATED",
            ChangeKind::Updated => "UPDATED",
            ChangeKind::Dropped => "DROPPED",
        }
    }
}

/// The schema object that changed, apart from its keyspace. Views count as tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeTarget {
    Keyspace,
    Table { name: String },
    Type { name: String },
    Function { name: String, argument_types: Vec<String> },
    Aggregate { name: String, argument_types: Vec<String> },
}

/// A schema change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaChange {
    pub kind: ChangeKind,
    pub keyspace: String,
    pub target: ChangeTarget,
}

impl SchemaChange {
    /// Writes the change. v3 cannot name functions and aggregates: it hears that their keyspace was updated.
    pub(crate) fn write(&self, out: &mut Vec<u8>, version: Version) {
        let is_routine =
            matches!(self.target, ChangeTarget::Function { .. } | ChangeTarget::Aggregate { .. });
        let (kind, target) = if is_routine && version < Version::V4 {
            (ChangeKind::Updated, &ChangeTarget::Keyspace)
        } else {
            (self.kind, &self.target)
        };
        put_string(out, kind.name());
        let mut head = |target: &str| {
            put_string(out, target);
            put_string(out, &self.keyspace);
        };
        match target {
            ChangeTarget::Keyspace => head("KEYSPACE"),
            ChangeTarget::Table { name } => {
                head("TABLE");
                put_string(out, name);
            }
            ChangeTarget::Type { name } => {
                head("TYPE");
                put_string(out, name);
            }
            ChangeTarget::Function { name, argument_types } => {
                head("FUNCTION");
                put_string(out, name);
                put_string_list(out, argument_types);
            }
            ChangeTarget::Aggregate { name, argument_types } => {
                head("AGGREGATE");
                put_string(out, name);
                put_string_list(out, argument_types);
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<SchemaChange, WireError> {
        let kind = reader.string("schema change kind")?;
        let kind = ChangeKind::ALL
            .into_iter()
            .find(|k| k.name() == kind)
            .ok_or_else(|| unknown("a schema change kind", kind))?;
        let target = reader.string("schema change target")?;
        let keyspace = reader.string("keyspace of a schema change")?.to_owned();
        let mut name = || reader.string("name in a schema change").map(str::to_owned);
        let target = match target {
            "KEYSPACE" => ChangeTarget::Keyspace,
            "TABLE" => ChangeTarget::Table { name: name()? },
            "TYPE" => ChangeTarget::Type { name: name()? },
            "FUNCTION" => ChangeTarget::Function {
                name: name()?,
                argument_types: reader.string_list("argument types in a schema change")?,
            },
            "AGGREGATE" => ChangeTarget::Aggregate {
                name: name()?,
                argument_types: reader.string_list("argument types in a schema change")?,
            },
            other => return Err(unknown("a schema change target", other)),
        };
        Ok(SchemaChange { kind, keyspace, target })
    }
}

/// The body of EVENT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Topology { change: TopologyChange, address: SocketAddr },
    Status { change: StatusChange, address: SocketAddr },
    Schema(SchemaChange),
}

impl Event {
    /// Which registrations this event is for.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            Event::Topology { .. } => EventKind::TopologyChange,
            Event::Status { .. } => EventKind::StatusChange,
            Event::Schema(_) => EventKind::SchemaChange,
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, version: Version) {
        put_string(out, self.kind().name());
        match self {
            Event::Topology { change, address } => {
                put_string(out, change.name());
                put_socket_address(out, *address);
            }
            Event::Status { change, address } => {
                put_string(out, change.name());
                put_socket_address(out, *address);
            }
            Event::Schema(change) => change.write(out, version),
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Event, WireError> {
        match reader.string("event type")? {
            "TOPOLOGY_CHANGE" => {
                let name = reader.string("topology change")?;
                let change = TopologyChange::ALL
                    .into_iter()
                    .find(|c| c.name() == name)
                    .ok_or_else(|| unknown("a topology change", name))?;
                Ok(Event::Topology { change, address: reader.socket_address("node address")? })
            }
            "STATUS_CHANGE" => {
                let name = reader.string("status change")?;
                let change = [StatusChange::Up, StatusChange::Down]
                    .into_iter()
                    .find(|c| c.name() == name)
                    .ok_or_else(|| unknown("a status change", name))?;
                Ok(Event::Status { change, address: reader.socket_address("node address")? })
            }
            "SCHEMA_CHANGE" => SchemaChange::read(reader).map(Event::Schema),
            other => Err(unknown("an event type", other)),
        }
    }
}

fn unknown(field: &'static str, name: &str) -> WireError {
    WireError::UnknownName { field, name: name.to_owned() }
}
