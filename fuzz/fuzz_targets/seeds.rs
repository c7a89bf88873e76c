//! Writes the seeds: `seeds DIR` fills DIR/frames with real requests in every version and framing, DIR/statements with
//! every statement of the parser's tables, DIR/restore with parts of a golden data folder, and DIR/paging, DIR/control,
//! DIR/http, DIR/review_dynamo and DIR/dynamo_requests with a few of each.

// Brings the symbols that the coverage instrumentation calls.
use libfuzzer_sys as _;

use cql_wire::{
    Batch, BatchList, BatchQuery, BatchType, Compression, Consistency, QueryParams, Request, StartupOptions, Value,
    ValueList, Version,
};
use std::fs;
use std::path::Path;

fn main() {
    let dir = std::env::args().nth(1).expect("usage: seeds DIR");
    let frames = frames();
    let statements = statements();
    write(&Path::new(&dir).join("frames"), &frames);
    write(&Path::new(&dir).join("statements"), &statements);
    write(&Path::new(&dir).join("paging"), &paging());
    write(&Path::new(&dir).join("control"), &lines(&["snapshot\n", "snapshot", "snap\nshot\n", "GET / HTTP/1.1\r\n\r\n"]));
    write(
        &Path::new(&dir).join("http"),
        &lines(&[
            "GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /metrics HTTP/1.0\r\n\r\nGET /health HTTP/1.1\r\n\r\n",
            "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
            "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "HEAD /health HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\nExpect: 100-continue\r\n\r\n",
        ]),
    );
    write(&Path::new(&dir).join("review_dynamo"), &definitions());
    write(&Path::new(&dir).join("dynamo_requests"), &dynamo_requests());
    let restores = restores();
    write(&Path::new(&dir).join("restore"), &restores);
    println!("{} frames, {} statements, {} parts of a backup", frames.len(), statements.len(), restores.len());
}

fn write(dir: &Path, seeds: &[Vec<u8>]) {
    fs::create_dir_all(dir).expect("a folder for seeds");
    for (index, seed) in seeds.iter().enumerate() {
        fs::write(dir.join(format!("seed-{index:04}")), seed).expect("a seed");
    }
}

fn lines(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The examples of the rules for DynamoDB, and a little YAML and Terraform; the first byte chooses the language.
fn definitions() -> Vec<Vec<u8>> {
    let rules = design::rules::all().filter(|rule| design::rules::is_dynamo(rule));
    let mut seeds: Vec<Vec<u8>> = rules.flat_map(|rule| [rule.bad, rule.good]).map(|text| [&[0], text.as_bytes()].concat()).collect();
    let yaml = "Resources:\n  T:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      TableName: !Sub \"${A}-t\"\n      KeySchema:\n        - {AttributeName: pk, KeyType: HASH}\n";
    let terraform = "resource \"aws_dynamodb_table\" \"t\" {\n  name = \"t\"\n  hash_key = \"pk\"\n  ttl {\n    attribute_name = \"e\"\n  }\n  x = <<EOT\ny\nEOT\n}\n";
    seeds.push([&[1], yaml.as_bytes()].concat());
    seeds.push([&[2], terraform.as_bytes()].concat());
    seeds
}

/// Requests of the DynamoDB API; the first byte chooses the operation.
fn dynamo_requests() -> Vec<Vec<u8>> {
    let values = r##""ExpressionAttributeNames":{"#a":"m"},"ExpressionAttributeValues":{":a":{"N":"1"},":b":{"S":"x"},":c":{"SS":["x"]},":d":{"L":[]}}"##;
    let item = r#"{"p":{"S":"k"},"n":{"N":"-1.5e3"},"m":{"M":{"l":{"L":[{"BOOL":true},{"NULL":true},{"B":"AQI="}]}}},"s":{"NS":["1","2.0"]},"t":{"SS":["a\u00e4"]},"b":{"BS":["AQ=="]}}"#;
    let texts: Vec<(&str, String)> = vec![
        ("PutItem", format!(r#"{{"TableName":"tab","Item":{item},"ReturnValues":"ALL_OLD"}}"#)),
        ("PutItem", format!(r#"{{"TableName":"tab","Item":{item},"ConditionExpression":"attribute_not_exists(p) OR (#a.l[0] <> :a AND n BETWEEN :a AND :a)",{values}}}"#)),
        ("PutItem", r#"{"TableName":"tab","Item":{"p":{"S":"k"}},"Expected":{"n":{"ComparisonOperator":"IN","AttributeValueList":[{"N":"1"}]}},"ConditionalOperator":"OR"}"#.into()),
        ("UpdateItem", format!(r#"{{"TableName":"tab","Key":{{"p":{{"S":"k"}}}},"UpdateExpression":"SET q = if_not_exists(n, :a) + :a, l = list_append(:d, :d) ADD s :c DELETE t :c REMOVE #a.l[1]",{values}}}"#)),
        ("UpdateItem", r#"{"TableName":"tab","Key":{"p":{"S":"k"}},"AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"1"}}}}"#.into()),
        ("GetItem", r#"{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/tab","Key":{"p":{"S":"k"}},"ProjectionExpression":"p, m.l[0]"}"#.into()),
        ("Query", format!(r#"{{"TableName":"tab","IndexName":"idx","KeyConditionExpression":"p = :b AND begins_with(n, :b)","FilterExpression":"contains(t, :b) AND NOT size(#a) > :a","ExclusiveStartKey":{{"p":{{"S":"k"}}}},"Limit":3,"Select":"COUNT",{values}}}"#)),
        ("Query", r#"{"TableName":"tab","KeyConditions":{"p":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"k"}]}}}"#.into()),
        ("Scan", r#"{"TableName":"tab","Segment":1,"TotalSegments":4,"ScanFilter":{"n":{"ComparisonOperator":"NOT_NULL"}}}"#.into()),
        ("BatchWriteItem", format!(r#"{{"RequestItems":{{"tab":[{{"PutRequest":{{"Item":{item}}}}},{{"DeleteRequest":{{"Key":{{"p":{{"S":"j"}}}}}}}}]}}}}"#)),
        ("TransactWriteItems", format!(r#"{{"ClientRequestToken":"tok","TransactItems":[{{"Put":{{"TableName":"tab","Item":{item}}}}},{{"ConditionCheck":{{"TableName":"tab","Key":{{"p":{{"S":"j"}}}},"ConditionExpression":"attribute_exists(p)"}}}}]}}"#)),
        ("ExecuteStatement", r#"{"Statement":"SELECT p, m.l[0] FROM \"tab\".\"idx\" WHERE p = ? AND begins_with(\"n\", 'x') OR n IN [1, 2]","Parameters":[{"S":"k"}]}"#.into()),
        ("ExecuteStatement", r#"{"Statement":"UPDATE tab SET n = n + 1 REMOVE q WHERE p = 'k' RETURNING ALL NEW *"}"#.into()),
        ("ExecuteStatement", r#"{"Statement":"INSERT INTO tab VALUE {'p': 'k', 's': <<1, 2>>, 'l': [true, null]}"}"#.into()),
        ("CreateTable", r#"{"TableName":"tab","KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},{"AttributeName":"g","AttributeType":"N"}],"BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[{"IndexName":"idx","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]}}],"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"Tags":[{"Key":"a","Value":"b"}]}"#.into()),
        ("UpdateTable", r#"{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"idx"}}],"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}"#.into()),
        ("GetShardIterator", r#"{"StreamArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tab/stream/2026-11-18T00:37:34.851","ShardId":"shardId-0000000000000000000000-00000000","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"1"}"#.into()),
        ("ImportTable", r#"{"S3BucketSource":{"S3Bucket":"b"},"InputFormat":"CSV","InputFormatOptions":{"Csv":{"Delimiter":";","HeaderList":["p"]}},"TableCreationParameters":{"TableName":"tab","KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}}"#.into()),
    ];
    let number = |name: &str| dynamo::Operation::ALL.iter().position(|known| known.name() == name).expect("an operation") as u8;
    texts.iter().map(|(name, text)| [&[number(name)], text.as_bytes()].concat()).collect()
}

/// Paging states of both kinds without their checksums, which the target adds.
fn paging() -> Vec<Vec<u8>> {
    let mut sequence = vec![1, 1, 7, 12];
    sequence.extend_from_slice(&[0x80, 0, 0, 0, 0, 0, 0, 1, 0, 4, 1, 2]);
    sequence.extend_from_slice(&[1, 2, 3, 4, 1, 1, 9, 0]);
    let merge = vec![1, 2, 7, 1, 100, 2, 1, 2, 3, 4, 0, 5, 0, 1, 0];
    vec![sequence, merge]
}

/// Parts of the golden folders, by way of the modes of the target that take them.
fn restores() -> Vec<Vec<u8>> {
    let golden = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/partita/tests/golden/2026-11"));
    let mut seeds = Vec::new();
    let mut add = |mode: u8, bytes: &[u8]| seeds.push([&[mode], bytes].concat());
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("a word")) as usize;
    for folder in ["closed", "killed"] {
        let manifest = fs::read(golden.join(folder).join("MANIFEST")).expect("a manifest");
        add(0, &manifest);
        let mut at = 8;
        while at + 8 < manifest.len() {
            let end = (at + 8 + word(&manifest, at)).min(manifest.len());
            add(1, &manifest[at + 8..end]);
            add(2, &manifest[at + 8..end].repeat(2));
            at = end;
        }
        let catalogue = fs::read(golden.join(folder).join("CATALOGUE")).expect("a catalogue");
        add(3, &catalogue[20..]);
        for table in fs::read_dir(golden.join(folder).join("tables")).expect("tables") {
            add(5, &fs::read(table.expect("a table").path()).expect("a table"));
        }
    }
    let log = fs::read(golden.join("killed/log/0000000000000001.log")).expect("a segment");
    let mut at = 32;
    while at + 16 < log.len() && word(&log, at) > 0 {
        let end = (at + 16 + word(&log, at)).min(log.len());
        add(4, &log[at + 16..end].repeat(2));
        at = end;
    }
    seeds
}

fn statements() -> Vec<Vec<u8>> {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cql-syntax/tests/it/cases");
    let mut seeds = Vec::new();
    for table in ["select", "write", "schema", "role", "ours"] {
        let text = fs::read_to_string(format!("{tables}/{table}.cql")).expect("a table of statements");
        let mut statement = String::new();
        for line in text.lines().filter(|line| !line.starts_with("=> ")) {
            if !line.starts_with(' ') && !statement.is_empty() {
                seeds.push(std::mem::take(&mut statement).into_bytes());
            }
            statement.push_str(line);
            statement.push('\n');
        }
        seeds.push(statement.into_bytes());
    }
    seeds
}

/// Each request alone, by way of every mode of the target.
fn frames() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (index, version) in Version::ALL.into_iter().enumerate() {
        for plain in requests(version) {
            for (bits, compression) in
                [(0, None), (1, Some(Compression::Lz4)), (2, Some(Compression::Snappy))]
            {
                if version == Version::V5 && compression == Some(Compression::Snappy) {
                    continue;
                }
                for mode in 0..4u8 {
                    let mut seed = vec![index as u8 | bits << 2 | mode << 5];
                    seed.extend_from_slice(&plain);
                    seeds.push(seed);
                }
            }
        }
    }
    seeds
}

fn requests(version: Version) -> Vec<Vec<u8>> {
    let mut startup = StartupOptions::new();
    startup.set("CQL_VERSION", "3.0.0").set("COMPRESSION", "lz4").set("DRIVER_NAME", "seed");
    let mut values = ValueList::new();
    for value in [Value::Bytes(&[0, 0, 0, 1]), Value::Null, Value::Bytes(b"text")] {
        assert!(values.push(value));
    }
    let mut named = ValueList::new();
    assert!(named.push_named("k", Value::Bytes(&[1])) && named.push_named("v", Value::Null));
    let mut params = QueryParams::new(Consistency::Quorum);
    params.values = values.as_values();
    params.page_size = Some(5000);
    params.timestamp = Some(1);
    params.serial_consistency = Some(Consistency::Serial);
    params.skip_metadata = true;
    let mut with_names = QueryParams::new(Consistency::One);
    with_names.values = named.as_values();
    with_names.paging_state = Some(b"state");
    let mut list = BatchList::new();
    let insert = BatchQuery::Text("INSERT INTO t (k, v, w) VALUES (?, ?, ?)");
    assert!(list.push(insert, values.as_values()));
    assert!(list.push(BatchQuery::Prepared(&[7; 16]), values.as_values()));
    let batch = Batch {
        batch_type: BatchType::Logged,
        statements: list.as_statements(),
        params: QueryParams::new(Consistency::One),
    };
    let requests = [
        Request::Options,
        Request::Startup(startup.as_startup()),
        Request::AuthResponse(Some(b"\0cassandra\0cassandra")),
        Request::Query { query: "SELECT * FROM system.local", params },
        Request::Query { query: "SELECT * FROM t WHERE k = :k AND v = :v", params: with_names },
        Request::Prepare { query: "SELECT v FROM t WHERE k = ?", keyspace: None },
        Request::Execute { id: &[7; 16], result_metadata_id: Some(&[8; 16]), params },
        Request::Batch(batch),
    ];
    let encode = |request: &Request<'_>| {
        let mut bytes = Vec::new();
        request.encode(version.into(), 1, 0, &mut bytes);
        bytes
    };
    let mut all: Vec<Vec<u8>> = requests.iter().map(encode).collect();
    all.push(all.concat());
    all
}
