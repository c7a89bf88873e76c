//! Message kinds: the opcode byte of an envelope header.

use std::fmt;

/// Defines [`Opcode`] once, so that the byte, the name and the list cannot disagree.
macro_rules! opcodes {
    ($($variant:ident = $byte:literal, $name:literal;)*) => {
        /// A message kind.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Opcode {
            $($variant = $byte,)*
        }

        impl Opcode {
            /// Every opcode of v3, v4 and v5.
            pub const ALL: &[Opcode] = &[$(Opcode::$variant,)*];

            /// The opcode with this byte.
            #[must_use]
            pub fn from_byte(byte: u8) -> Option<Opcode> {
                match byte {
                    $($byte => Some(Opcode::$variant),)*
                    _ => None,
                }
            }

            /// The name of the specification, as error texts show it: `QUERY`, `AUTH_RESPONSE`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Opcode::$variant => $name,)*
                }
            }
        }
    };
}

opcodes! {
    Error = 0x00, "ERROR";
    Startup = 0x01, "STARTUP";
    Ready = 0x02, "READY";
    Authenticate = 0x03, "AUTHENTICATE";
    Options = 0x05, "OPTIONS";
    Supported = 0x06, "SUPPORTED";
    Query = 0x07, "QUERY";
    Result = 0x08, "RESULT";
    Prepare = 0x09, "PREPARE";
    Execute = 0x0A, "EXECUTE";
    Register = 0x0B, "REGISTER";
    Event = 0x0C, "EVENT";
    Batch = 0x0D, "BATCH";
    AuthChallenge = 0x0E, "AUTH_CHALLENGE";
    AuthResponse = 0x0F, "AUTH_RESPONSE";
    AuthSuccess = 0x10, "AUTH_SUCCESS";
}

impl Opcode {
    /// Whether clients send this kind (servers send the others).
    #[must_use]
    pub fn is_request(self) -> bool {
        match self {
            Opcode::Startup
            | Opcode::Options
            | Opcode::Query
            | Opcode::Prepare
            | Opcode::Execute
            | Opcode::Register
            | Opcode::Batch
            | Opcode::AuthResponse => true,
            Opcode::Error
            | Opcode::Ready
            | Opcode::Authenticate
            | Opcode::Supported
            | Opcode::Result
            | Opcode::Event
            | Opcode::AuthChallenge
            | Opcode::AuthSuccess => false,
        }
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
