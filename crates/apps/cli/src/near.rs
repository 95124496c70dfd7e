//! Names that are near to one that nothing has.

/// The names, at most three, that `name` could have been meant to be.
pub fn near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut close: Vec<_> = known
        .filter_map(|other| {
            let distance = strsim::levenshtein(name, other);
            let part = name.len() >= 3 && (other.contains(name) || name.contains(other));
            let reach = 1 + name.len().min(other.len()) / 4;
            (distance <= reach || part).then_some((distance, other))
        })
        .collect();
    close.sort();
    close.truncate(3);
    close.into_iter().map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn nearest_first() {
        let known = ["swap", "swap-broken-fence-only", "stream", "orderings"];
        assert_eq!(near("swapp", known.into_iter()), ["swap"]);
        assert_eq!(near("broken", known.into_iter()), ["swap-broken-fence-only"]);
        assert!(near("zzz", known.into_iter()).is_empty());
        assert!(near("", known.into_iter()).is_empty());
    }
}
