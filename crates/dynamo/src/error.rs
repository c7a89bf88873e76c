//! Errors as the API answers them: a name, a sentence, and for some a few members more.

use crate::json::{self, Writer};
use crate::value::Item;

/// The errors that clients can see, by the name after the `#`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorName {
    Validation,
    Serialization,
    AccessDenied,
    UnknownOperation,
    MissingAuthenticationToken,
    IncompleteSignature,
    InvalidSignature,
    UnrecognizedClient,
    InternalServer,
    Throttling,
    ResourceNotFound,
    ResourceInUse,
    LimitExceeded,
    ConditionalCheckFailed,
    TransactionCanceled,
    TransactionConflict,
    TransactionInProgress,
    IdempotentParameterMismatch,
    ItemCollectionSizeLimitExceeded,
    ProvisionedThroughputExceeded,
    DuplicateItem,
    BackupNotFound,
    BackupInUse,
    TableAlreadyExists,
    TableInUse,
    TableNotFound,
    ContinuousBackupsUnavailable,
    PointInTimeRecoveryUnavailable,
    GlobalTableNotFound,
    ExportNotFound,
    ExportConflict,
    ImportNotFound,
    ImportConflict,
    IndexNotFound,
    PolicyNotFound,
    ExpiredIterator,
    TrimmedDataAccess,
}

impl ErrorName {
    pub const ALL: [ErrorName; 37] = {
        use ErrorName::*;
        [
            Validation,
            Serialization,
            AccessDenied,
            UnknownOperation,
            MissingAuthenticationToken,
            IncompleteSignature,
            InvalidSignature,
            UnrecognizedClient,
            InternalServer,
            Throttling,
            ResourceNotFound,
            ResourceInUse,
            LimitExceeded,
            ConditionalCheckFailed,
            TransactionCanceled,
            TransactionConflict,
            TransactionInProgress,
            IdempotentParameterMismatch,
            ItemCollectionSizeLimitExceeded,
            ProvisionedThroughputExceeded,
            DuplicateItem,
            BackupNotFound,
            BackupInUse,
            TableAlreadyExists,
            TableInUse,
            TableNotFound,
            ContinuousBackupsUnavailable,
            PointInTimeRecoveryUnavailable,
            GlobalTableNotFound,
            ExportNotFound,
            ExportConflict,
            ImportNotFound,
            ImportConflict,
            IndexNotFound,
            PolicyNotFound,
            ExpiredIterator,
            TrimmedDataAccess,
        ]
    };

    /// The name that clients switch on.
    pub fn name(self) -> String {
        match self {
            ErrorName::InternalServer => "InternalServerError".to_string(),
            other => format!("{other:?}Exception"),
        }
    }

    fn prefix(self) -> &'static str {
        use ErrorName::*;
        match self {
            Validation => "com.amazon.coral.validate",
            Serialization
            | AccessDenied
            | UnknownOperation
            | MissingAuthenticationToken
            | IncompleteSignature
            | InvalidSignature
            | UnrecognizedClient
            | Throttling => "com.amazon.coral.service",
            _ => "com.amazonaws.dynamodb.v20120810",
        }
    }
}

/// Boxed inside: the way without errors should not carry its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError(Box<Facts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Facts {
    name: ErrorName,
    message: Option<String>,
    /// Members beside the message, already JSON.
    extra: Vec<(&'static str, Vec<u8>)>,
}

impl ApiError {
    pub fn new(name: ErrorName, message: impl Into<String>) -> ApiError {
        ApiError(Box::new(Facts { name, message: Some(message.into()), extra: Vec::new() }))
    }

    /// An error that has no sentence.
    pub fn bare(name: ErrorName) -> ApiError {
        ApiError(Box::new(Facts { name, message: None, extra: Vec::new() }))
    }

    pub fn validation(message: impl Into<String>) -> ApiError {
        ApiError::new(ErrorName::Validation, message)
    }

    /// Item operations on a table that is not there.
    pub fn no_such_resource() -> ApiError {
        ApiError::new(ErrorName::ResourceNotFound, "Requested resource not found")
    }

    /// The control plane on a table that is not there.
    pub fn no_such_table(table: &str) -> ApiError {
        ApiError::new(
            ErrorName::ResourceNotFound,
            format!("Requested resource not found: Table: {table} not found"),
        )
    }

    /// A failed condition, with the item if the request asked for it and there is one.
    pub fn condition_failed(item: Option<&Item>) -> ApiError {
        let error = ApiError::new(ErrorName::ConditionalCheckFailed, "The conditional request failed");
        match item {
            Some(item) => error.with_item(item),
            None => error,
        }
    }

    pub fn with_item(self, item: &Item) -> ApiError {
        let mut text = Vec::new();
        json::write_item(item, &mut text);
        self.with("Item", text)
    }

    /// Adds a member; `text` is JSON.
    pub fn with(mut self, member: &'static str, text: Vec<u8>) -> ApiError {
        self.0.extra.push((member, text));
        self
    }

    pub fn name(&self) -> ErrorName {
        self.0.name
    }

    pub fn message(&self) -> &str {
        self.0.message.as_deref().unwrap_or("")
    }

    /// A member added by `with`.
    pub fn extra(&self, member: &str) -> Option<&[u8]> {
        self.0.extra.iter().find(|(name, _)| *name == member).map(|(_, text)| text.as_slice())
    }

    /// The same error with another sentence.
    pub fn reworded(mut self, message: String) -> ApiError {
        self.0.message = Some(message);
        self
    }

    pub fn status(&self) -> u16 {
        match self.0.name {
            ErrorName::InternalServer => 500,
            _ => 400,
        }
    }

    /// `{"__type":"prefix#Name","message":"…"}`.
    pub fn body(&self) -> Vec<u8> {
        let Facts { name, message, extra } = &*self.0;
        let mut out = Vec::with_capacity(160);
        let mut object = Writer::object(&mut out);
        object.string("__type", &format!("{}#{}", name.prefix(), name.name()));
        // The service writes the key in capitals where the error has members of its own, and for two names more.
        let capital = !extra.is_empty()
            || matches!(
                name,
                ErrorName::Serialization | ErrorName::AccessDenied | ErrorName::TransactionCanceled
            );
        if let Some(message) = message {
            object.string(if capital { "Message" } else { "message" }, message);
        }
        for (member, text) in extra {
            object.key(member).extend_from_slice(text);
        }
        object.end();
        out
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.0.name.name(), self.message())
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn bodies() {
        let text = |error: ApiError| String::from_utf8(error.body()).unwrap();
        assert_eq!(
            text(ApiError::validation("x \"y\"")),
            r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"x \"y\""}"#
        );
        assert_eq!(
            text(ApiError::bare(ErrorName::Serialization)),
            r#"{"__type":"com.amazon.coral.service#SerializationException"}"#
        );
        let item: Item = [("a".to_string(), Value::Bool(true))].into_iter().collect();
        assert_eq!(
            text(ApiError::condition_failed(Some(&item))),
            concat!(
                r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","#,
                r#""Message":"The conditional request failed","Item":{"a":{"BOOL":true}}}"#
            )
        );
        assert_eq!(ApiError::bare(ErrorName::InternalServer).status(), 500);
        assert!(text(ApiError::new(ErrorName::InternalServer, "")).contains("#InternalServerError"));
    }
}
