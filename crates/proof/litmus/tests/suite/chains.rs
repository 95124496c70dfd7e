//! A chain of conditions has depth 1, however long it is.

use wattle_litmus::{Answer, Options, Program, Question, World, judge, parse, print};
use wattle_memory::Model;

/// The number of terms of a chain, which is more than a stack has frames for.
const TERMS: usize = 200_000;

fn file(statement: &str) -> String {
    format!("PTX N\n{{ x=0; }}\nP0@cta 0,gpu 0 ;\nld.relaxed.gpu r0, x ;\n{statement}\n")
}

/// The program, which is written and read again as it is.
fn program(statement: &str) -> Program {
    let program = parse("chain", &file(statement)).unwrap_or_else(|error| panic!("{error}"));
    assert!(parse("printed", &print(&program)).as_ref() == Ok(&program), "it comes back as another");
    program
}

fn answer(statement: &str) -> Answer {
    judge(&World::new(program(statement)), Model::Ptx, Question::Outcome, &Options::default()).unwrap().answer
}

#[test]
fn long_chains_are_judged() {
    let chain = |term: &str, sign: &str| vec![term; TERMS].join(sign);
    assert_eq!(answer(&format!("exists ({})", chain("x == 0", " /\\ "))), Answer::Yes);
    assert_eq!(answer(&format!("exists ({} /\\ P0:r0 == 1)", chain("x == 0", " /\\ "))), Answer::No);
    assert_eq!(answer(&format!("forall ({})", chain("x == 1", " \\/ "))), Answer::No);
    assert_eq!(answer(&format!("forall ({} \\/ x == 0)", chain("x == 1 /\\ x == 0", " || "))), Answer::Yes);
    assert_eq!(answer(&format!("filter ({})\nexists (x == 0)", chain("P0:r0 == 0", " && "))), Answer::Yes);
}

/// A chain's first part may stand in parentheses, which say nothing there; parentheses elsewhere are kept.
#[test]
fn chains_are_written_as_they_were_read() {
    for (read, written) in [
        ("x == 0 /\\ x == 1 /\\ x == 2", "x == 0 /\\ x == 1 /\\ x == 2"),
        ("(x == 0 && x == 1) && x == 2", "x == 0 /\\ x == 1 /\\ x == 2"),
        ("x == 0 /\\ (x == 1 /\\ x == 2)", "x == 0 /\\ (x == 1 /\\ x == 2)"),
        ("x == 0 \\/ x == 1 \\/ (x == 2 \\/ x == 3)", "x == 0 \\/ x == 1 \\/ (x == 2 \\/ x == 3)"),
        ("x == 0 /\\ x == 1 \\/ x == 2", "(x == 0 /\\ x == 1) \\/ x == 2"),
        ("(x == 0 || x == 1) /\\ ~(x == 2)", "(x == 0 \\/ x == 1) /\\ ~(x == 2)"),
    ] {
        let text = print(&program(&format!("exists ({read})")));
        assert!(text.ends_with(&format!("exists\n({written})\n")), "{read}: {text}");
    }
}
