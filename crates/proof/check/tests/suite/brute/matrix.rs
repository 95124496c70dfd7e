//! Relations as matrices of truth values, in the simplest way: nothing here is shared with the models' code.

pub type Matrix = Vec<Vec<bool>>;

/// The pairs of numbers below `n` for which `holds`.
pub fn pairs(n: usize, holds: impl Fn(usize, usize) -> bool) -> Matrix {
    (0..n).map(|a| (0..n).map(|b| holds(a, b)).collect()).collect()
}

/// The union of the relations.
pub fn any(all: &[&Matrix]) -> Matrix {
    pairs(all[0].len(), |a, b| all.iter().any(|one| one[a][b]))
}

/// The composition of the relations.
pub fn then(all: &[&Matrix]) -> Matrix {
    let n = all[0].len();
    let mut result = all[0].clone();
    for next in &all[1..] {
        let mut longer = vec![vec![false; n]; n];
        for a in 0..n {
            for middle in (0..n).filter(|&middle| result[a][middle]) {
                for b in 0..n {
                    longer[a][b] |= next[middle][b];
                }
            }
        }
        result = longer;
    }
    result
}

/// The transitive closure: one or more steps.
pub fn plus(one: &Matrix) -> Matrix {
    let (n, mut result) = (one.len(), one.clone());
    for middle in 0..n {
        for a in 0..n {
            if result[a][middle] {
                let through = result[middle].clone();
                result[a].iter_mut().zip(through).for_each(|(to, from)| *to |= from);
            }
        }
    }
    result
}

/// The reflexive relation: no step or one.
pub fn maybe(one: &Matrix) -> Matrix {
    pairs(one.len(), |a, b| a == b || one[a][b])
}

pub fn inverse(one: &Matrix) -> Matrix {
    pairs(one.len(), |a, b| one[b][a])
}

pub fn irreflexive(one: &Matrix) -> bool {
    (0..one.len()).all(|a| !one[a][a])
}

pub fn acyclic(one: &Matrix) -> bool {
    irreflexive(&plus(one))
}
