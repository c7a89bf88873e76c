//! Where each rule was seen in public projects, and what came of it. The facts are in `tests/evidence/dynamo/`.

pub const CONSTANT: &str = "phamlocdev/dynamodb-ecom-api-mvp writes entityType = ORDER into every order to list all of them through one \
    index; mutchinick's event-driven shop does the same with every event (EVENTS#EVENT).";
pub const FEW: &str = "Sing-Kai/auction-service finds open auctions through an index by status: all open auctions are one value, which \
    every new auction and every poll for ended ones uses.";
pub const TIME: &str = "ministryofjustice/opg-modernising-lpa keeps what is due under the hash key of its day and reads one day at a time; that is \
    fine at its rate, and would not be at a thousand a second.";
pub const NOT_GIVEN: &str = "Not in the learning half of our evidence; it was seen in reviews: a table keyed by a row id that is read only by \
    owner, which costs every write twice.";
pub const UNUSED: &str = "awslabs/aws-api-gateway-developer-portal has an index on Feedback with the key of the table itself; \
    aws-samples/aws-serverless-ecommerce-platform indexes deliveries by the id that is already their key.";
pub const UNWRITTEN: &str = "Poes-Pursuits-LLC/roam-fish declares gsis1k and indexes gsi1sk with a stray quote: no item can ever be in that \
    index.";
pub const PROJECTION: &str = "ministryofjustice/opg-modernising-lpa projects keys only into the index by LpaUID and reads the item by its key \
    afterwards: right for one item, dear for a list.";
pub const COLLECTION: &str = "aws-samples/serverless-coffee puts a local index on the table whose every order has the same hash value: all \
    orders together may take 10 GB, then writes are refused.";
pub const ITEM: &str = "aws-samples/drs-tools kept the log of a recovery inside the item of the run; with many servers writes were refused \
    (issue 26: item size has exceeded the maximum allowed size).";
pub const SCAN: &str = "joekhoobyar/shoryuken-later polled for due jobs by a Scan with a filter; pull request 8 replaced it by a Query, since every \
    poll read the whole table. wolfeidau/dynalock did the same in its pull request 1.";
pub const FILTER: &str = "runvoy/runvoy lists the latest executions with a limit and filters them by status afterwards: a page of 20 may \
    come back empty though older ones match.";
pub const GRAMMAR: &str = "aws-samples/sample-collaborative-ai-dlc says in a comment beside its keys that begins_with UNIT would match two kinds of \
    items, and asks with the delimiter.";
pub const ORDER: &str = "Hieu192/book-store-dynamodb sorts products by RATING#<rating> as text: ten sorts before nine, and 4.75 where nobody \
    looks for it.";
pub const TENANT: &str = "aws-samples' serverless SaaS reference puts the tenant first in every hash key, so that a policy can hold each tenant to \
    its own items; one kind of item without it would be outside.";
pub const LIFECYCLE: &str = "ministryofjustice/opg-modernising-lpa lets invitations and access codes expire in the table that keeps the \
    documents themselves; the attribute is written only where it is meant.";
pub const UPDATE: &str = "Sing-Kai/auction-service reads the highest bid, compares, and writes the new one without a condition: of two bids at \
    once the lower may win. The shop of phamlocdev takes stock under availableQuantity >= :quantity.";
pub const OVERWRITE: &str = "wolfeidau/dynalock and the lock client of awslabs take a lock only under attribute_not_exists or when it has \
    expired; without the condition two would hold it.";
pub const TTL_UNIT: &str = "LeoPlatform/Nodejs (issue 43) and aws-solutions/quota-monitor-for-aws wrote the expiry in milliseconds, so nothing \
    expired; pull requests 47 and 150 of the latter write seconds.";
pub const TTL_MISSING: &str = "ca98am79/connect-dynamodb reaped expired sessions by a Scan until TTL was supported (issue 39); \
    aws/aws-sessionstore-dynamodb-ruby was asked for the same (issue 12).";
pub const TRANSACTION: &str = "endertunc's realworld example uses transactions for what they are for: an article, its slug and a counter together; \
    around one item they would only cost double.";
pub const REFUSED: &str = "ca98am79/connect-dynamodb and others read by whole keys; a Query through an index with ConsistentRead is refused at \
    its first call, which tests with a mocked client do not show.";
