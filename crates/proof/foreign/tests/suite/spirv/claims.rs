//! Long claims: a chain has depth 1, however long it is.

use super::{ask, head, module};
use wattle_foreign::spirv::{Answer, Header};

/// The number of terms of a chain, which is more than a stack has frames for.
const TERMS: usize = 200_000;

/// The answer about one thread that leaves 1 in `%out[0][0]`.
fn claim(claims: &str) -> Answer {
    ask(&module(&format!("{}\n{claims}", head("1, 1, 1")), "Vulkan", "OpStore %out0 %1\nOpReturn"), "assertion")
}

#[test]
fn long_chains_are_judged() {
    let chain = |term: &str, sign: &str| vec![term; TERMS].join(sign);
    let (is, is_not) = ("%out[0][0] == 1", "%out[0][0] == 0");
    assert_eq!(claim(&format!("; @Output: forall ({})", chain(is, " and "))), Answer::Yes);
    assert_eq!(claim(&format!("; @Output: forall ({} or {is})", chain(is_not, " or "))), Answer::Yes);
    assert_eq!(claim(&format!("; @Output: not exists ({})", chain(is_not, " or "))), Answer::Yes);
    assert_eq!(claim(&format!("; @Output: exists ({})", chain(is, " and "))), Answer::Yes);
    assert_eq!(claim(&chain(&format!("; @Output: forall ({is})"), "\n")), Answer::Yes);
    let wrong = Answer::No("an execution ends with %out[0][0] = 1".into());
    assert_eq!(claim(&format!("; @Output: forall ({} and {is_not})", chain(is, " and "))), wrong);
}

#[test]
fn nested_conditions_have_a_limit() {
    for (open, close) in [("(", ")"), ("not ", "")] {
        let nested = |depth| {
            let text = format!("; @Output: forall {}1 == 1{}", open.repeat(depth), close.repeat(depth));
            Header::read(&text).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(nested(60), Ok(()));
        assert_eq!(nested(TERMS), Err("line 1: the condition is too deep".into()));
    }
}
