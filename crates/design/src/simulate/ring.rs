//! The ring: nodes with random tokens (vnodes), replicas on the next distinct nodes, as Cassandra's SimpleStrategy.
//!
//! Tokens are real Murmur3 tokens; ownership is computed from the ring, not drawn. Racks and datacentres are not modelled.

use super::random::Random;
use model::token::Token;

/// Nodes, their tokens and who holds which range.
#[derive(Debug)]
pub struct Ring {
    nodes: usize,
    /// Ascending ring positions; the range that ends at one belongs to the same entry of `replicas`.
    positions: Vec<u64>,
    /// `replication` nodes for each position, primary first.
    replicas: Vec<u16>,
    replication: usize,
}

impl Ring {
    /// `replication` must not exceed `nodes`; the caller has checked it.
    pub fn new(nodes: usize, vnodes: usize, replication: usize, seed: u64) -> Ring {
        let mut random = Random::stream(seed, "ring");
        let mut tokens: Vec<(u64, u16)> = Vec::with_capacity(nodes * vnodes);
        for node in 0..nodes {
            tokens.extend((0..vnodes).map(|_| (random.next(), node as u16)));
        }
        tokens.sort_unstable();
        tokens.dedup_by_key(|(position, _)| *position);
        let mut replicas = Vec::with_capacity(tokens.len() * replication);
        for start in 0..tokens.len() {
            let begin = replicas.len();
            for step in 0..tokens.len() {
                let Some((_, node)) = tokens.get((start + step) % tokens.len()) else { break };
                if !replicas.get(begin..).is_some_and(|own: &[u16]| own.contains(node)) {
                    replicas.push(*node);
                }
                if replicas.len() - begin == replication {
                    break;
                }
            }
        }
        let positions = tokens.into_iter().map(|(position, _)| position).collect();
        Ring { nodes, positions, replicas, replication }
    }

    /// The nodes that hold a token, primary first.
    pub fn replicas(&self, token: Token) -> &[u16] {
        let at = self.positions.partition_point(|position| *position < token.ring_position());
        let at = if at == self.positions.len() { 0 } else { at };
        self.replicas.get(at * self.replication..(at + 1) * self.replication).unwrap_or(&[])
    }

    /// The share of all tokens that each node holds a replica of; the sum is the replication.
    pub fn ownership(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.nodes];
        let mut before = self.positions.last().copied().unwrap_or(0);
        for (at, position) in self.positions.iter().enumerate() {
            // The first range wraps round the end of the ring.
            let share = position.wrapping_sub(before) as f64 / 2f64.powi(64);
            let share = if self.positions.len() == 1 { 1.0 } else { share };
            for node in &self.replicas[at * self.replication..(at + 1) * self.replication] {
                shares[usize::from(*node)] += share;
            }
            before = *position;
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ownership_is_where_real_tokens_fall() {
        let ring = Ring::new(7, 16, 3, 42);
        let expected = ring.ownership();
        assert!((expected.iter().sum::<f64>() - 3.0).abs() < 1e-9);
        let keys = 200_000;
        let mut counts = [0u32; 7];
        for key in 0..keys {
            let replicas = ring.replicas(model::token::murmur3(format!("user-{key}").as_bytes()));
            assert_eq!(replicas.len(), 3);
            let mut distinct = replicas.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 3, "replicas are on different nodes");
            for node in replicas {
                counts[usize::from(*node)] += 1;
            }
        }
        for (node, count) in counts.iter().enumerate() {
            let seen = f64::from(*count) / f64::from(keys);
            assert!((seen - expected[node]).abs() < 0.006, "node {node}: {seen} of {}", expected[node]);
        }
    }

    #[test]
    fn more_vnodes_spread_more_evenly() {
        let uneven = |vnodes| {
            let shares = Ring::new(12, vnodes, 1, 3).ownership();
            shares.iter().fold(0.0, |a: f64, b| a.max(*b)) * 12.0
        };
        assert!(uneven(256) < uneven(16) && uneven(16) < uneven(1));
        assert!((Ring::new(1, 1, 1, 3).ownership()[0] - 1.0).abs() < 1e-12);
    }
}
