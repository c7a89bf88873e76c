//! The simulation against brute force, its own sums, and what the seeds say about keys.

use design::review;
use design::simulate::{Grows, Settings, Simulation, simulate, write_json, write_svg, write_text};

const SCHEMA: &str = "
CREATE TABLE events_by_tenant (tenant_id text, at timestamp, event_id uuid, payload text,
    PRIMARY KEY (tenant_id, at, event_id));
CREATE TABLE events_by_tenant_day (tenant_id text, day date, at timestamp, event_id uuid, payload text,
    PRIMARY KEY ((tenant_id, day), at, event_id));
CREATE TABLE orders_by_customer (tenant_id text, customer_id uuid, placed_at timestamp, order_id uuid,
    PRIMARY KEY ((tenant_id, customer_id), placed_at, order_id));
CREATE TABLE feed_by_bucket (feed text, bucket int, at timestamp, event_id uuid,
    PRIMARY KEY ((feed, bucket), at, event_id));
CREATE TABLE customers (customer_id uuid PRIMARY KEY, name text);
CREATE ACCESS PATTERN write_event AS INSERT INTO events_by_tenant (tenant_id, at, event_id, payload) VALUES (?, ?, ?, ?)
    WITH peak_rate = 300 AND row_bytes = 200;
CREATE ACCESS PATTERN tenant_events AS SELECT * FROM events_by_tenant WHERE tenant_id = ? LIMIT 50
    WITH peak_rate = 1000 AND rows_per_day = 2;
CREATE ACCESS PATTERN tenant_events_of_week AS SELECT * FROM events_by_tenant_day WHERE tenant_id = ? AND day = ? LIMIT 50
    WITH peak_rate = 1000 AND rows_per_day = 2 AND row_bytes = 200 AND lookback = '7d';
CREATE ACCESS PATTERN orders AS SELECT * FROM orders_by_customer WHERE tenant_id = ? AND customer_id = ? LIMIT 20
    WITH peak_rate = 500 AND rows_per_partition = {'p50': 10, 'max': 500} AND partitions = 20000 AND row_bytes = 100;
CREATE ACCESS PATTERN feed AS SELECT * FROM feed_by_bucket WHERE feed = ? AND bucket = ? LIMIT 20
    WITH peak_rate = 100 AND buckets = 8 AND rows_per_partition = 100 AND partitions = 50;
CREATE ACCESS PATTERN customer AS SELECT * FROM customers WHERE customer_id = ? WITH peak_rate = 50 AND partitions = 1000;
";

fn run(schema: &str, settings: &Settings) -> Simulation {
    let review = review([("schema.cql", schema)]);
    assert!(review.errors().is_empty(), "{:?}", review.errors());
    simulate(&review, settings, &mut |_| {}).expect("a simulation")
}

fn settings() -> Settings {
    Settings { tenants: 200, days: 100.0, seed: 7, ..Settings::default() }
}

/// Rows drawn one by one over Zipf weights: what the model predicts without drawing.
fn brute_force(keys: usize, exponent: f64, rows: usize, seed: u64) -> Vec<u32> {
    let mut sums: Vec<f64> = Vec::with_capacity(keys);
    let mut sum = 0.0;
    for rank in 1..=keys {
        sum += (rank as f64).powf(-exponent);
        sums.push(sum);
    }
    let mut counts = vec![0u32; keys];
    let mut state = seed;
    for _ in 0..rows {
        // A linear congruential generator: deliberately not the one the model uses.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wanted = (state >> 11) as f64 / (1u64 << 53) as f64 * sum;
        counts[sums.partition_point(|s| *s < wanted).min(keys - 1)] += 1;
    }
    counts.retain(|count| *count > 0);
    counts.sort_unstable();
    counts
}

#[test]
fn partition_sizes_are_those_of_counting_row_by_row() {
    for exponent in [0.0, 0.7, 1.0, 1.3] {
        let settings = Settings { zipf: exponent, scales: vec![1.0, 10.0], ..settings() };
        let simulation = run(SCHEMA, &settings);
        let table = &simulation.tables[0];
        for at in &table.scales {
            // 200 tenants, 2 rows a day, 100 days.
            let rows = (200.0 * 2.0 * 100.0 * at.scale) as usize;
            let seeds = 1..=8u64;
            let counted: Vec<Vec<u32>> = seeds.map(|seed| brute_force(200, exponent, rows, seed)).collect();
            let average = |of: &dyn Fn(&Vec<u32>) -> f64| counted.iter().map(of).sum::<f64>() / 8.0;
            let rank = |counts: &Vec<u32>, q: f64| ((counts.len() as f64 * q).ceil() as usize).max(1) - 1;
            let quantile = |q: f64| average(&|counts| f64::from(counts[rank(counts, q)])) * 200.0;
            assert!((at.rows / rows as f64 - 1.0).abs() < 0.02, "{exponent}: {} rows of {rows}", at.rows);
            let partitions = average(&|counts| counts.len() as f64);
            assert!((at.partitions - partitions).abs() <= 3.0, "{} and {partitions}", at.partitions);
            for (predicted, q) in [
                (at.partition_bytes_p50, 0.5),
                (at.partition_bytes_p90, 0.9),
                (at.partition_bytes_p99, 0.99),
                (at.partition_bytes_max, 1.0),
            ] {
                let seen = quantile(q);
                assert!(
                    (predicted / seen - 1.0).abs() < 0.15,
                    "Zipf {exponent}, {}x, q{q}: {predicted} and {seen}",
                    at.scale
                );
            }
        }
    }
}

#[test]
fn what_the_nodes_carry_is_what_the_tables_hold_and_the_patterns_do() {
    for large in [vec![], vec!["acme=40%".parse().expect("a share")]] {
        let settings = Settings { large, ..settings() };
        let simulation = run(SCHEMA, &settings);
        for (number, ring) in simulation.rings.iter().enumerate() {
            let sum = |of: fn(&design::simulate::NodeLoad) -> f64| ring.nodes.iter().map(of).sum::<f64>();
            let bytes: f64 = simulation.tables.iter().map(|t| t.scales[number].bytes).sum();
            let close = |a: f64, b: f64, what: &str| {
                assert!((a / b - 1.0).abs() < 0.02, "{what} at {}x: {a} and {b}", ring.scale);
            };
            close(sum(|n| n.bytes), bytes * 3.0, "bytes");
            // Reads ask two of three replicas; a week of days is 7 partitions, 8 buckets are 8.
            let reads = (1_000.0 + 7.0 * 1_000.0 + 500.0 + 8.0 * 100.0 + 50.0) * ring.scale * 2.0;
            close(sum(|n| n.reads), reads, "reads");
            let implied: f64 = [1, 2, 3]
                .iter()
                .map(|at| simulation.tables[*at].scales[number].rows / (100.0 * 86_400.0))
                .sum();
            close(sum(|n| n.writes), (300.0 * ring.scale + implied) * 3.0, "writes");
            assert!((sum(|n| n.ownership) - 3.0).abs() < 1e-9);
        }
    }
}

#[test]
fn larger_scales_hold_and_cost_more() {
    for grows in [Grows::Rows, Grows::Keys] {
        let simulation = run(SCHEMA, &Settings { grows, ..settings() });
        for table in &simulation.tables {
            for pair in table.scales.windows(2) {
                assert!(pair[0].rows < pair[1].rows && pair[0].bytes < pair[1].bytes, "{}", table.table);
                assert!(pair[0].partitions <= pair[1].partitions, "{}", table.table);
                assert!(pair[0].partition_bytes_max <= pair[1].partition_bytes_max * 1.05, "{}", table.table);
                assert!(pair[0].over_limit <= pair[1].over_limit, "{}", table.table);
            }
        }
        for pair in simulation.rings.windows(2) {
            let all = |at: usize| pair[at].nodes.iter().map(|n| n.operations()).sum::<f64>();
            assert!(all(0) < all(1));
        }
    }
}

#[test]
fn a_named_tenant_is_the_hot_partition_and_a_bucket_bounds_it() {
    let settings = Settings { large: vec!["acme=60%".parse().expect("a share")], ..settings() };
    let simulation = run(SCHEMA, &settings);
    let of = |name: &str| simulation.tables.iter().find(|t| t.table == name).expect("the table");
    let (plain, daily) = (of("events_by_tenant"), of("events_by_tenant_day"));
    assert_eq!(plain.scales[0].largest, "tenant_id acme");
    // 60 % of everything, on top of what the others have.
    let share = plain.scales[0].partition_bytes_max / plain.scales[0].bytes;
    assert!((share - 0.6).abs() < 0.02, "{share}");
    let ratio = plain.scales[2].partition_bytes_max / daily.scales[2].partition_bytes_max;
    assert!((80.0..110.0).contains(&ratio), "100 days in one partition are 100 times a day: {ratio}");
    let hottest = &simulation.rings[0].hottest[0];
    assert!(hottest.key.contains("acme"), "{hottest:?}");
    assert!(
        simulation.verdicts.iter().any(|v| v.is_bad && v.text.contains("acme")),
        "{:?}",
        simulation.verdicts
    );
}

#[test]
fn fan_out_follows_buckets_and_scans() {
    let schema = format!(
        "{SCHEMA} CREATE ACCESS PATTERN by_name AS SELECT * FROM customers WHERE name = ? ALLOW FILTERING WITH peak_rate = 3;"
    );
    let simulation = run(&schema, &settings());
    let of =
        |name: &str| &simulation.patterns.iter().find(|p| p.pattern == name).expect("the pattern").scales[0];
    assert_eq!(of("tenant_events").partitions, 1.0);
    assert_eq!(of("tenant_events_of_week").partitions, 7.0);
    assert_eq!(of("feed").partitions, 8.0);
    assert_eq!((of("by_name").partitions, of("by_name").nodes), (1_000.0, 6.0));
    // The busiest of 200 tenants has 1/5.88 of 40,000 rows in 100 days: a page of 50 is in its last day.
    assert_eq!(of("tenant_events_of_week").buckets_to_fill_p50.map(|n| n < 30.0), Some(true));
    assert!(
        simulation.verdicts.iter().any(|v| v.text.contains("by_name") && v.text.contains("every partition"))
    );
}

#[test]
fn the_same_seed_gives_the_same_report_and_another_one_another_ring() {
    let one = run(SCHEMA, &settings());
    let again = run(SCHEMA, &settings());
    let other = run(SCHEMA, &Settings { seed: 8, ..settings() });
    assert_eq!(write_json(&one), write_json(&again));
    assert_eq!(write_svg(&one), write_svg(&again));
    assert_ne!(one.rings[0].nodes[0].ownership, other.rings[0].nodes[0].ownership);
}

#[test]
fn declared_percentiles_anchor_the_sizes() {
    let simulation = run(SCHEMA, &settings());
    let orders = simulation.tables.iter().find(|t| t.table == "orders_by_customer").expect("the table");
    let at = &orders.scales[0];
    assert!((800.0..=1_200.0).contains(&at.partition_bytes_p50), "half have 10 rows of 100 bytes: {at:?}");
    assert!(at.partition_bytes_max > 500.0 * 100.0, "the skew says more than the declared 500 rows: {at:?}");
}

#[test]
fn settings_that_mean_nothing_are_refused_with_what_would() {
    let review = review([(
        "schema.cql",
        "CREATE TABLE t (sensor_id text, at timestamp, PRIMARY KEY (sensor_id, at))",
    )]);
    let large = |text: &str| Settings { large: vec![text.parse().expect("a share")], ..Settings::default() };
    let error = simulate(&review, &large("acme=40%"), &mut |_| {}).expect_err("no tenant").to_string();
    assert!(error.contains("COLUMN:acme") && error.contains("sensor_id"), "{error}");
    assert!(simulate(&review, &large("sensor_id:hub=40%"), &mut |_| {}).is_ok());
    let empty = design::review([("empty.cql", "")]);
    assert!(simulate(&empty, &Settings::default(), &mut |_| {}).is_err());
}

#[test]
fn every_schema_of_the_cases_can_be_simulated() {
    let settings = Settings { keys: 200, tenants: 20, scales: vec![1.0, 100.0], ..Settings::default() };
    for text in [super::SEEDS, super::GOOD, super::FLAWED] {
        for case in super::cases(text) {
            let review = review([("case.cql", case.text.as_str())]);
            if review.catalogue.tables.is_empty() {
                continue;
            }
            let mut steps = 0;
            let simulation = simulate(&review, &settings, &mut |_| steps += 1).expect("a simulation");
            assert_eq!(steps, review.catalogue.tables.len() * 2);
            let numbers = simulation
                .tables
                .iter()
                .flat_map(|t| &t.scales)
                .flat_map(|at| [at.rows, at.bytes, at.partition_bytes_max]);
            assert!(
                numbers.into_iter().all(|n| n.is_finite() && n >= 0.0),
                "{}: {:?}",
                case.name,
                simulation.tables
            );
            assert!(write_text(&simulation, design::output::text::Colour::Never).contains("Partition sizes"));
            assert!(!write_svg(&simulation).contains("NaN"));
        }
    }
}

/// The same workload, once with buckets by hand and once with the clause, is predicted alike.
#[test]
fn buckets_of_the_server_cost_what_buckets_by_hand_cost() {
    for (by_hand, clause, column) in [
        ("day date, ", "{'by': 'at', 'every': '1d'}", "day"),
        ("bucket int, ", "{'by': 'event_id', 'into': 8}", "bucket"),
    ] {
        let columns = "tenant_id text, at timestamp, event_id uuid, payload text";
        let insert =
            "INSERT INTO events (tenant_id, at, event_id, payload) VALUES (?, ?, ?, ?) WITH peak_rate = 300";
        let numbers = "peak_rate = 100 AND rows_per_day = 2000 AND row_bytes = 200 AND buckets = 8";
        let hand = format!(
            "CREATE TABLE events ({by_hand}{columns}, PRIMARY KEY ((tenant_id, {column}), at, event_id));
             CREATE ACCESS PATTERN w AS INSERT INTO events (tenant_id, {column}, at, event_id, payload) VALUES (?, ?, ?, ?, ?) WITH peak_rate = 300;
             CREATE ACCESS PATTERN r AS SELECT * FROM events WHERE tenant_id = ? AND {column} = ? LIMIT 50 WITH {numbers};"
        );
        let served = format!(
            "CREATE TABLE events ({columns}, PRIMARY KEY (tenant_id, at, event_id)) WITH bucketing = {clause};
             CREATE ACCESS PATTERN w AS {insert};
             CREATE ACCESS PATTERN r AS SELECT * FROM events WHERE tenant_id = ? LIMIT 50 WITH {numbers};"
        );
        let (hand, served) = (run(&hand, &settings()), run(&served, &settings()));
        for (a, b) in hand.tables[0].scales.iter().zip(&served.tables[0].scales) {
            assert_eq!((a.partitions, a.rows), (b.partitions, b.rows), "{column}");
            assert_eq!(a.partition_bytes_max, b.partition_bytes_max, "{column}");
        }
        let fan_out = |simulation: &Simulation| {
            simulation.patterns.iter().map(|p| p.scales[0].partitions).collect::<Vec<_>>()
        };
        assert_eq!(fan_out(&hand), fan_out(&served), "{column}");
    }
}
