//! `partita dynamo export` and `import` with a running server: files of the service's layout, CSV, signed requests.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn partita(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partita"));
    for (name, _) in
        std::env::vars().filter(|(name, _)| name.starts_with("PARTITA_") || name.starts_with("AWS_"))
    {
        command.env_remove(name);
    }
    command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Running {
    child: Child,
    dynamo: SocketAddr,
}

impl Running {
    fn start(dir: &Path, more: &[&str]) -> Running {
        let mut command = partita(dir);
        command.args([
            "serve",
            "--data",
            "data",
            "--cql",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
            "--dynamo",
            "127.0.0.1:0",
        ]);
        let mut child = command.args(more).stderr(Stdio::null()).spawn().unwrap();
        let mut dynamo = None;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while dynamo.is_none() {
            let line = lines.next().expect("the server says where it listens").unwrap();
            dynamo = line.strip_prefix("listening dynamo ").map(|address| address.parse().unwrap());
        }
        std::thread::spawn(move || lines.for_each(drop));
        Running { child, dynamo: dynamo.unwrap() }
    }

    fn tool(&self, dir: &Path, words: &str) -> Command {
        let mut command = partita(dir);
        command.arg("dynamo").args(words.split(' ')).args(["--endpoint", &format!("http://{}", self.dynamo)]);
        command
    }

    fn run(&self, dir: &Path, words: &str) -> String {
        told(&self.tool(dir, words).output().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Standard output of a command that worked, standard error of one that did not.
fn told(output: &Output) -> String {
    let text = if output.status.success() { &output.stdout } else { &output.stderr };
    String::from_utf8_lossy(text).into_owned()
}

const TABLE: &str = r#"{"TableName": "x", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "n", "AttributeType": "N"},
        {"AttributeName": "g", "AttributeType": "S"}], "BillingMode": "PAY_PER_REQUEST",
    "GlobalSecondaryIndexes": [{"IndexName": "by-g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"}}]}"#;

fn items() -> Vec<String> {
    let item = |n: usize| {
        format!(
            r#"{{"Item":{{"g":{{"S":"g{}"}},"m":{{"M":{{"a":{{"L":[{{"NULL":true}}]}}}}}},"n":{{"N":"{n}"}},"p":{{"S":"p{}"}},"t":{{"S":"a, \"b\"\nc"}}}}}}"#,
            n % 3,
            n % 7
        )
    };
    (0..130).map(item).collect()
}

/// All lines of all data files of an export, sorted.
fn exported(dir: &Path) -> Vec<String> {
    let folder = dir.join("AWSDynamoDB").read_dir().unwrap().next().unwrap().unwrap().path();
    assert!(folder.join("manifest-summary.json").is_file() && folder.join("manifest-files.json").is_file());
    let mut lines = Vec::new();
    for file in folder.join("data").read_dir().unwrap() {
        let mut text = String::new();
        let file = std::fs::File::open(file.unwrap().path()).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        lines.extend(text.lines().map(str::to_string));
    }
    lines.sort();
    lines
}

#[test]
fn items_go_out_and_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::create_dir(dir.join("in")).unwrap();
    std::fs::write(dir.join("in/table.json"), TABLE).unwrap();
    // One item comes twice; the second counts.
    let mut lines = vec![r#"{"Item":{"p":{"S":"p0"},"n":{"N":"0"},"old":{"BOOL":true}}}"#.to_string()];
    lines.extend(items());
    std::fs::write(dir.join("in/items.json"), lines.join("\n")).unwrap();
    let server = Running::start(dir, &[]);
    let said = server.run(dir, "import --table one --from in --create");
    assert!(said.starts_with("imported 131 items"), "{said}");
    let said = server.run(dir, "export --table one --to out --items-per-file 50");
    assert!(said.starts_with("exported 130 items") && said.contains("to out/AWSDynamoDB/"), "{said}");
    let mut expected = items();
    expected.sort();
    assert_eq!(exported(&dir.join("out")), expected);
    // What was exported makes another table, index included.
    let said = server.run(dir, "import --table two --from out --create");
    assert!(said.starts_with("imported 130 items"), "{said}");
    server.run(dir, "export --table two --to again");
    assert_eq!(exported(&dir.join("again")), expected);
    let said = server.run(dir, "import --table two --from out --create");
    assert!(said.contains("ResourceInUseException"), "{said}");
}

#[test]
fn csv_keeps_text_and_keys() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("table.json"), TABLE).unwrap();
    std::fs::write(dir.join("in.csv"), "p,n,t\na,1,\"x, \"\"y\"\"\nz\"\na,2.50,\n\nb,-3,plain\nb,wrong,x\n")
        .unwrap();
    let server = Running::start(dir, &[]);
    let output = server
        .tool(dir, "import --table csv --from in.csv --format csv --definition table.json")
        .output()
        .unwrap();
    let (said, faults) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("imported 3 items") && said.contains("1 refused"), "{said}{faults}");
    assert!(faults.contains("in.csv:7: ValidationException") && output.status.code() == Some(1), "{faults}");
    server.run(dir, "export --table csv --to out.csv --format csv");
    let text = std::fs::read_to_string(dir.join("out.csv")).unwrap();
    let mut parts: Vec<&str> = text.strip_prefix("p,n,t\n").unwrap().split_inclusive("\n").collect();
    parts.sort();
    assert_eq!(parts, ["a,1,\"x, \"\"y\"\"\n", "a,2.5,\n", "b,-3,plain\n", "z\"\n"]);
}

#[test]
fn requests_are_signed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("table.json"), TABLE).unwrap();
    std::fs::write(dir.join("in.json"), items().join("\n")).unwrap();
    let server = Running::start(dir, &["--auth", "password"]);
    let words = "import --table signed --from in.json --definition table.json";
    let refused = server.run(dir, words);
    // Without keys of its own it signs with some that nobody has.
    assert!(refused.contains("UnrecognizedClientException"), "{refused}");
    let made = told(&partita(dir).args(["keys", "create", "cassandra", "--data", "data"]).output().unwrap());
    let value = |name: &str| {
        let line = made.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{made}")).trim_start_matches([' ', '=']).to_string()
    };
    let mut command = server.tool(dir, words);
    command.env("AWS_ACCESS_KEY_ID", value("aws_access_key_id"));
    command.env("AWS_SECRET_ACCESS_KEY", value("aws_secret_access_key"));
    let said = told(&command.output().unwrap());
    assert!(said.starts_with("imported 130 items"), "{said}");
}
