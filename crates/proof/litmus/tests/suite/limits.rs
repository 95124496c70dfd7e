//! A limit ends a question even if one execution has more ends than can be visited.

use std::time::{Duration, Instant};

use wattle_check::search::Stopped;
use wattle_litmus::{Answer, Options, Question, Reason, World, judge, parse};
use wattle_memory::Model;

/// Three threads write each of these places, and nothing orders the writes.
const PLACES: usize = 24;

#[test]
fn the_ends_of_one_execution() {
    let threads = 3;
    let row = |cell: &dyn Fn(usize) -> String| (0..threads).map(cell).collect::<Vec<_>>().join(" | ") + " ;\n";
    let mut text = "PTX Ends\n{\n".to_owned();
    (0..PLACES).for_each(|place| text += &format!("x{place}=0; "));
    text += "\n}\n";
    text += &row(&|thread| format!("P{thread}@cta {thread},gpu 0"));
    (0..PLACES).for_each(|place| text += &row(&|thread| format!("st.weak x{place}, {}", thread + 1)));
    // No place is left with 9, and all have to be visited to see that.
    let never: Vec<String> = (0..PLACES).map(|place| format!("x{place} == 9")).collect();
    text += &format!("exists ({})\n", never.join(" /\\ "));
    let program = parse("ends", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut options = Options::default();
    options.limits.deadline = Instant::now().checked_add(Duration::from_millis(300));
    let verdict = judge(&World::new(program), Model::Ptx, Question::Outcome, &options).unwrap();
    assert_eq!(verdict.answer, Answer::Unknown(Reason::Stopped(Stopped::Time)));
}
