//! The catalogue itself.

use super::Layer;
use crate::error::ErrorName;

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident: $older:literal $(, newer $newer:literal)? $(, as $error:ident)?;)*) => {
        /// A rule of the API that a request can break.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule { $($(#[$doc])* $name),* }

        impl Rule {
            pub const ALL: &[Rule] = &[$(Rule::$name),*];

            /// The sentence, with its facts still open.
            pub fn text(self, layer: Layer) -> &'static str {
                match self {
                    $(Rule::$name => {
                        #[allow(unused_mut, unused_assignments)]
                        let mut newer = $older;
                        $(newer = $newer;)?
                        match layer { Layer::Older => $older, Layer::Newer => newer }
                    })*
                }
            }

            pub(super) fn name(self) -> ErrorName {
                match self {
                    $(Rule::$name => {
                        #[allow(unused_mut, unused_assignments)]
                        let mut name = ErrorName::Validation;
                        $(name = ErrorName::$error;)?
                        name
                    })*
                }
            }
        }
    };
}

rules! {
    // Values (DYNAMO.md 2.2).
    ValueEmpty: "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
    ValueTwoTypes: "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes";
    NullFalse: "One or more parameter values were invalid: Null attribute value types must have the value of true";
    EmptyStringSet: "One or more parameter values were invalid: An string set  may not be empty";
    EmptyNumberSet: "One or more parameter values were invalid: An number set  may not be empty";
    EmptyBinarySet: "One or more parameter values were invalid: Binary sets should not be empty";
    DuplicateStrings: "One or more parameter values were invalid: Input collection {0} contains duplicates.", newer "One or more parameter values were invalid: Input collection {1} contains duplicates.";
    DuplicateBinaries: "One or more parameter values were invalid: Input collection {0}of type BS contains duplicates.", newer "One or more parameter values were invalid: Input collection {1}of type BS contains duplicates.";
    DuplicateNumbers: "Input collection contains duplicates", newer "One or more parameter values were invalid: Input collection contains duplicates.";
    NotANumber: "The parameter cannot be converted to a numeric value: {0}";
    EmptyNumber: "The parameter cannot be converted to a numeric value", newer "The parameter cannot be converted to a numeric value: ";
    NumberOverflow: "Number overflow. Attempting to store a number with magnitude larger than supported range";
    NumberUnderflow: "Number underflow. Attempting to store a number with magnitude smaller than supported range";
    NumberPrecision: "Attempting to store more than 38 significant digits in a Number";
    EmptyAttributeName: "Empty attribute name";
    Nesting: "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";

    // Table names.
    TableNameMissing: "The parameter 'TableName' is required but was not present in the request";
    TableNameLength: "TableName must be at least 3 characters long and at most 255 characters long";

    // Item operations (2.4).
    Mixing: "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {0} Expression parameters: {1}";
    NamesWithoutExpression: "ExpressionAttributeNames can only be specified when using expressions";
    ValuesWithoutExpression: "ExpressionAttributeValues can only be specified when using expressions{0}", newer "ExpressionAttributeValues can only be specified when using expressions";
    NamesEmpty: "ExpressionAttributeNames must not be empty";
    ValuesEmpty: "ExpressionAttributeValues must not be empty";
    NamesKeySyntax: "ExpressionAttributeNames contains invalid key: Syntax error; key: \"{0}\"";
    ValuesKeySyntax: "ExpressionAttributeValues contains invalid key: Syntax error; key: \"{0}\"";
    NamesKeyLong: "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: {0}";
    ValuesKeyLong: "ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long; size of key: {0}";
    NamesInvalidValue: "ExpressionAttributeNames contains invalid value: {0} for key {1}";
    ValuesInvalidValue: "ExpressionAttributeValues contains invalid value: {0} for key {1}", newer "{0}";
    NameTooLarge: "Attribute name is too large, must be less than 65536 bytes";
    NamesUnused: "Value provided in ExpressionAttributeNames unused in expressions: keys: {{0}}";
    ValuesUnused: "Value provided in ExpressionAttributeValues unused in expressions: keys: {{0}}";
    ExpressionsTooLarge: "The expression attribute names and values are too large; their size: {0}, the maximum: 2097152";
    ReturnValuesAllOld: "ReturnValues can only be ALL_OLD or NONE";
    MissingKey: "One or more parameter values were invalid: Missing the key {0} in the item";
    KeyTypeMismatch: "One or more parameter values were invalid: Type mismatch for key {0} expected: {1} actual: {2}";
    KeyDoesNotMatch: "The provided key element does not match the schema";
    EmptyKey: "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty {0} value. Key: {1}";
    HashKeySize: "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes";
    RangeKeySize: "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes";
    IndexKeyType: "One or more parameter values were invalid: Type mismatch for Index Key {0} Expected: {1} Actual: {2} IndexName: {3}";
    EmptyIndexKey: "One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty {0} value. IndexName: {1}, IndexKey: {2}";
    EmptyIndexKeyByUpdate: "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty {0} value.";
    KeyUpdate: "One or more parameter values were invalid: Cannot update attribute {0}. This attribute is part of the key";
    ItemSize: "Item size has exceeded the maximum allowed size";
    ItemSizeToUpdate: "Item size to update has exceeded the maximum allowed size";
    DuplicateAttributeToGet: "One or more parameter values were invalid: Duplicate value in attribute name: {0}";
    NestedKeyPath: "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: {0}";
    NestedIndexKeyPath: "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: {0}";
    RuntimeMissing: "The provided expression refers to an attribute that does not exist in the item";
    RuntimeType: "An operand in the update expression has an incorrect data type";
    RuntimePath: "The document path provided in the update expression is invalid for update";
    LegacyTypeMismatch: "Type mismatch for attribute to update";

    // Query and Scan (2.5).
    NoKeyCondition: "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.";
    KeyOperator: "Invalid operator used in KeyConditionExpression: {0}";
    KeyNestedOperations: "KeyConditionExpressions cannot contain nested operations";
    KeyNestedAttributes: "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes";
    KeyFirstOperand: "Invalid condition in KeyConditionExpression: {0} operator must have the key attribute as its first operand";
    KeyManyAttributes: "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition";
    KeyNoAttribute: "Invalid condition in KeyConditionExpression: No key attribute specified";
    KeyConditionTwice: "KeyConditionExpressions must only contain one condition per key", newer "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key";
    TooManyKeyConditions: "The number of query conditions ({0}) exceeds the number of key attributes defined in the schema ({1})", newer "The number of query conditions ({0}) exceeds the number of key attributes defined in the schema ({1})";
    MissedKeyElement: "Query condition missed key schema element: {0}";
    KeyConditionNotSupported: "Query key condition not supported";
    KeyConditionType: "One or more parameter values were invalid: Condition parameter type does not match schema type";
    HashNeedsEquality: "HASH key attributes {0} must have equality conditions specified in the query";
    RangeNeedsEquality: "RANGE key attributes {0} must have equality conditions specified in the query because a condition is present on key attribute {1}";
    NoSuchIndex: "The table does not have the specified index: {0}";
    ConsistentGlobal: "Consistent reads are not supported on global secondary indexes";
    BackfillingIndex: "Cannot read from backfilling global secondary index: {0}";
    SelectNeedsAttributes: "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES", newer "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES";
    SelectAndAttributes: "Cannot specify the {0} when choosing to get {1}", newer "1 validation error detected: Cannot specify the {0} when choosing to get {1}";
    SelectProjectedWithoutIndex: "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName", newer "1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName";
    SelectAllNotProjected: "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index {0} because its projection type is not ALL";
    IndexDoesNotProject: "One or more parameter values were invalid: Global secondary index {0} does not project [{1}]";
    FilterNotProjected: "One or more parameter values were invalid: Secondary index {0} does not project one or more filter attributes: [{1}]";
    FilterOnKey: "{0} can only contain non-primary key attributes: Primary key attribute: {1}";
    StartKeyInvalid: "The provided starting key is invalid";
    StartKeyInvalidSchema: "The provided starting key is invalid: The provided key element does not match the schema", newer "The provided starting key is invalid";
    StartKeyOutside: "The provided starting key is outside query boundaries based on provided conditions";
    StartKeyPredicate: "The provided starting key does not match the range key predicate";
    StartKeyOneRow: "The query can return at most one row and cannot be restarted";
    StartKeyHashOnly: "The provided exclusive start key is invalid";
    SegmentWithoutTotal: "The TotalSegments parameter is required but was not present in the request when Segment parameter is present";
    TotalWithoutSegment: "The Segment parameter is required but was not present in the request when parameter TotalSegments is present";
    SegmentTooLarge: "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: {0} is not less than TotalSegments: {1}";
    VectorIndexQuery: "Query operation not supported on this index type.";
    VectorIndexScan: "Scan operation not supported on this index type";

    SearchIndexKind: "SearchVectors operation not supported on this index type.";
    SearchDimensions: "One or more parameter values were invalid: SearchVector has {0} dimensions, and index {1} has {2}";
    SearchAttribute: "SearchConditionExpression can only contain attributes of the search schema: Attribute: {0}, index: {1}";
    SearchHashMissing: "SearchConditionExpression missed search schema element: {0}";
    SearchOperator: "SearchConditionExpression can only contain equality conditions on top-level attributes, joined with AND";
    VectorDoesNotProject: "One or more parameter values were invalid: Vector index {0} does not project [{1}]";

    // Batches (2.6).
    BatchGetTooMany: "Too many items requested for the BatchGetItem call";
    BatchDuplicateKeys: "Provided list of item keys contains duplicates";
    BatchWriteMissing: "The requestItems parameter is required for BatchWriteItem";

    // Transactions (2.7).
    TransactNoAction: "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request";
    TransactTwoActions: "TransactItems can only contain one of Check, Put, Update or Delete";
    TransactSameItem: "Transaction request cannot include multiple operations on one item";
    TransactTooLarge: "Transaction request cannot be larger than 4 MB: the items and keys of this request have {0} bytes";
    TokenMismatch: "The request uses the same client token as a previous, but non-identical request. Do not reuse a client token with different requests, unless the requests are identical", as IdempotentParameterMismatch;
    TokenInProgress: "A transaction with the same client token is in progress; try again when it is done", as TransactionInProgress;

    // PartiQL (2.8).
    StatementMalformed: "Statement wasn't well formed, can't be processed: {0}";
    StatementNoKey: "Where clause does not contain a mandatory equality on all key attributes";
    StatementKeyType: "Key attribute's data type should match its data type in table's schema: Key {0}";
    StatementParameters: "Number of parameters in request and statement don't match.";
    StatementPath: "Unexpected path component at {0}:{1}:{2}";
    StatementAlias: "Aliasing is not supported";
    StatementOrderBy: "Must have WHERE clause in the statement when using ORDER BY clause.";
    StatementOrderByKey: "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.";
    StatementConsistentGlobal: "Strongly consistent read is not supported on Global Secondary Indexes";
    StatementTokenMismatch: "NextToken does not match request";
    NextTokenInvalid: "Invalid NextToken";
    StatementBatchMixed: "Read and write requests together in the same batch is not supported.";
    StatementBatchKey: "Select statements within BatchExecuteStatement must specify the primary key in the where clause.";
    StatementBatchSingle: "Only single item select is supported";
    StatementTransactionKey: "Select statements within ExecuteTransaction must specify the primary key in the where clause.";
    StatementTransactionReturning: "Validation failed in TransactStatements[{0}]: RETURNING clause is not supported in ExecuteTransaction.";
    StatementReturning: "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause";
    StatementTableName: "Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', '0-9', '-', '_', '.'.";
    StatementEmptyPath: "Path component cannot be an empty string";
    StatementOneTable: "Only select from a single table or index is supported.";
    StatementTransactionIndex: "Reads on indices are not supported within transactions.";
    IndexThroughputSame: "The provisioned throughput for the index {0} will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the index: {1}. Requested ReadCapacityUnits: {1}. Current WriteCapacityUnits provisioned for the index: {2}. Requested WriteCapacityUnits: {2}. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.";
    StreamsLimit: "One or more parameter values were invalid: Limit cannot be greater than the maximum allowed size: {0}";
    StatementMultiKeys: "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.";
    StatementDuplicate: "Duplicate primary key exists in table", as DuplicateItem;

    // Streams (2.9).
    SequenceNotWanted: "One or more parameter values were invalid: SequenceNumber should not be passed for this iterator type";
    SequenceMissing: "One or more parameter values were invalid: SequenceNumber cannot be null";
    SequenceInvalid: "Invalid SequenceNumber for the shard";
    TimestampMissing: "One or more parameter values were invalid: Timestamp cannot be null for this iterator type";
    TimestampNotWanted: "One or more parameter values were invalid: Timestamp should not be passed for this iterator type";
    TimestampFuture: "One or more parameter values were invalid: Timestamp cannot be in the future";
    RecordsLimit: "One or more parameter values were invalid: Limit should be less than or equal to 1000";
    IteratorExpired: "The shard iterator has expired: it is older than 15 minutes", as ExpiredIterator;
    IteratorTrimmed: "The records at this place are older than 24 hours and have been removed", as TrimmedDataAccess;
    IteratorInvalid: "Invalid ShardIterator";

    // Older parameters (2.10).
    ExistsTrueNoValue: "One or more parameter values were invalid: Value must be provided when Exists is {0} for Attribute: {1}";
    ExistsFalseValue: "One or more parameter values were invalid: Value cannot be used when Exists is false for Attribute: {0}";
    ExistsAndOperator: "One or more parameter values were invalid: Exists and ComparisonOperator cannot be used together for Attribute: {0}";
    ValueAndList: "One or more parameter values were invalid: Value and AttributeValueList cannot be used together for Attribute: {0}";
    ListWithoutOperator: "One or more parameter values were invalid: AttributeValueList can only be used with a ComparisonOperator for Attribute: {0}";
    OperatorWithoutValue: "One or more parameter values were invalid: Value or AttributeValueList must be used with ComparisonOperator: {0} for Attribute: {1}";
    ArgumentCount: "One or more parameter values were invalid: Invalid number of argument(s) for the {0} ComparisonOperator";
    ArgumentTypes: "One or more parameter values were invalid: AttributeValues inside AttributeValueList must be of same type";
    ArgumentType: "One or more parameter values were invalid: ComparisonOperator {0} is not valid for {1} AttributeValue type";
    ArgumentRange: "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound";
    ComparisonOperator: "One or more parameter values were invalid: Invalid comparison operator";
    ConditionalOperatorAlone: "ConditionalOperator cannot be used without Filter or Expected";
    ConditionalOperatorOne: "ConditionalOperator can only be used when Filter or Expected has two or more elements";
    KeyConditionsCount: "Conditions can be of length 1 or 2 only";
    KeyConditionsOperator: "Attempted conditional constraint is not an indexable operation";
    OnlyDelete: "One or more parameter values were invalid: Only DELETE action is allowed when no attribute value is specified";
    DeleteType: "One or more parameter values were invalid: DELETE action with value is not supported for the type {0}";
    AddType: "One or more parameter values were invalid: ADD action is not supported for the type {0}";

    // TTL and tags (2.11).
    TtlEnabled: "TimeToLive is already enabled";
    TtlDisabled: "TimeToLive is already disabled";
    TtlOtherName: "TimeToLive is active on a different AttributeName: current AttributeName is {0}";
    TableArnInvalid: "Invalid TableArn";
    ResourceArnInvalid: "Invalid TableArn: Invalid ResourceArn provided as input {0}";
    ResourceArnNotArn: "User: arn:aws:iam::000000000000:root is not authorized to perform: dynamodb:{0} on resource: {1}", as AccessDenied;
    TagsMissing: "Atleast one Tag needs to be provided as Input.";
    TagKeysMissing: "Atleast one Tag Key needs to be provided as Input.";
    ResourceArnUnknown: "Requested resource not found: ResourcArn: {0} not found", as ResourceNotFound;

    // Expressions (3.3); {0} is the kind.
    ExpressionEmpty: "Invalid {0}: The expression can not be empty;";
    ExpressionSize: "Invalid {0}: Expression size has exceeded the maximum allowed size; expression size: {1}", newer "Invalid {0}: Expression size has exceeded the maximum allowed size;";
    ExpressionSyntax: "Invalid {0}: Syntax error; token: \"{1}\", near: \"{2}\"";
    RedundantParentheses: "Invalid {0}: The expression has redundant parentheses;";
    TooManyOperators: "Invalid {0}: The expression contains too many operators; operator count: {1}";
    TooManyInOperands: "Invalid {0}: The IN operator is provided with too many operands; number of operands: {1}";
    IndexRange: "Invalid {0}: List index is not within the allowable range; index: [{1}]";
    PathDepth: "Invalid {0}: The document path has too many nesting levels; nesting levels: {1}";
    ReservedWord: "Invalid {0}: Attribute name is a reserved keyword; reserved keyword: {1}";
    NameUndefined: "Invalid {0}: An expression attribute name used in the document path is not defined; attribute name: {1}";
    ValueUndefined: "Invalid {0}: An expression attribute value used in expression is not defined; attribute value: {1}";
    FunctionUnknown: "Invalid {0}: Invalid function name; function: {1}";
    FunctionMisused: "Invalid {0}: The function is not allowed to be used this way in an expression; function: {1}";
    FunctionNotInUpdate: "Invalid {0}: The function is not allowed in an update expression; function: {1}";
    OperandCount: "Invalid {0}: Incorrect number of operands for operator or function; operator or function: {1}, number of operands: {2}";
    NeedsPath: "Invalid {0}: Operator or function requires a document path; operator or function: {1}";
    OperandType: "Invalid {0}: Incorrect operand type for operator or function; operator or function: {1}, operand type: {2}";
    ActionOperandType: "Invalid {0}: Incorrect operand type for operator or function; operator: {1}, operand type: {2}, typeSet: ALLOWED_FOR_{1}_OPERAND";
    TypeName: "Invalid {0}: Invalid attribute type name found; type: {1}, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}";
    NotDistinct: "Invalid {0}: The first operand must be distinct from the remaining operands for this operator or function; operator: {1}, first operand: {2}";
    BetweenTypes: "Invalid {0}: The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {1}, upper bound operand: AttributeValue: {2}";
    BetweenOrder: "Invalid {0}: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {1}, upper bound operand: AttributeValue: {2}";
    SectionTwice: "Invalid {0}: The \"{1}\" section can only be used once in an update expression;";
    PathsOverlap: "Invalid {0}: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: {1}, path two: {2}";
    PathsConflict: "Invalid {0}: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: {1}, path two: {2}";
}
