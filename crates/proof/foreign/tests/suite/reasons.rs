//! A race of a module says why what passes between its threads orders nothing.

use wattle_foreign::{Condition, Launch, Options, Source, Verdict, Violation, World, judge};
use wattle_memory::{Model, Term};

/// The violation of message passing between the first threads of two blocks: what the writer does behind the data, and what the
/// reader does before them.
fn violation(writes: &str, reads: &str) -> (Violation, String) {
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64 .entry k(.param .u64 words)\n{{ .reg .u64 %a; .reg .u32 %b, %x, %y; \
         .reg .pred %p, %q;\nld.param.u64 %a, [words]; mov.u32 %b, %ctaid.x; setp.eq.u32 %p, %b, 0;\n@%p bra WRITE;\n\
         READ:\n{reads}\nsetp.eq.u32 %q, %x, 0;\n@%q ret;\nld.global.u32 %y, [%a];\nret;\n\
         WRITE:\nst.global.u32 [%a], 1;\n{writes}\nret; }}"
    );
    let launch = Launch {
        grid: [2, 1, 1],
        block: [1; 3],
        arguments: vec!["words=u32[2]:0".parse().expect("an argument")],
        dynamic_shared: 0,
    };
    let mut world = World::new(Source { file: "k.ptx".into(), text }, None, launch).expect("it is read");
    let report = judge(&mut world, &[], &Options::default()).expect("it can be judged");
    let Verdict::Violated(violation, _) = report.verdict else { panic!("{:?}", report.verdict) };
    let sentence = violation.sentence(&world);
    (violation, sentence)
}

#[test]
fn a_race_says_which_side_is_missing() {
    let (release, acquire) = ("fence.acq_rel.gpu;", "fence.acq_rel.gpu;");
    let (store, load) = ("st.relaxed.gpu.global.u32 [%a+4], 1;", "ld.relaxed.gpu.global.u32 %x, [%a+4];");
    let narrow = "fence.acq_rel.cta;";
    for (writes, reads, said, term) in [
        (store.to_owned(), format!("{load} {acquire}"), "nothing releases: the write at k.ptx:", Term::Release),
        (format!("{release} {store}"), load.to_owned(), "nothing acquires: the read at k.ptx:", Term::Acquire),
        (
            format!("{release} {store}"),
            format!("red.relaxed.gpu.global.add.u32 [%a+4], 0; {acquire} {load}"),
            "nothing acquires: the read at k.ptx:",
            Term::Acquire,
        ),
        (format!("{narrow} {store}"), format!("{load} {acquire}"), "do not include each other's thread", Term::InScope),
        (
            "red.relaxed.cta.global.add.u32 [%a+4], 1;".to_owned(),
            "atom.relaxed.cta.global.add.u32 %x, [%a+4], 0;".to_owned(),
            "both are atomic, and their scopes",
            Term::InScope,
        ),
    ] {
        let (violation, sentence) = violation(&writes, &reads);
        let Violation::Race { reason: Some(reason), .. } = &violation else { panic!("{violation:?}") };
        assert!(sentence.contains(said) && reason.term == Some(term), "{sentence}");
        let clauses = violation.clauses(Model::Ptx, &[]);
        assert_eq!(clauses, [Model::Ptx.definition(term).unwrap(), Model::Ptx.race_clause().unwrap()]);
    }
}

#[test]
fn where_nothing_passes_there_is_no_such_reason() {
    let (violation, sentence) = violation("", "mov.u32 %x, 1;");
    assert!(matches!(violation, Violation::Race { reason: None, .. }), "{sentence}");
}

/// A value and its flag that come as one vector, as in look-backs of one pass: the elements are accesses of their own.
#[test]
fn elements_of_vectors_come_in_no_order() {
    let body = "@%p st.relaxed.gpu.global.v2.u32 [%a], {7, 1};\n@%p bra done;\nagain: ld.relaxed.gpu.global.v2.u32 {%x, %y}, [%a];\n\
                setp.eq.u32 %q, %y, 0;\n@%q bra again;\nst.global.u32 [%a+8], %x;\ndone: mov.u32 %x, 1;";
    let text = format!(
        ".version 8.6 .target sm_90 .address_size 64 .entry k(.param .u64 p)\n{{ .reg .u64 %a; .reg .u32 %t, %x, %y; \
         .reg .pred %p, %q;\nld.param.u64 %a, [p]; mov.u32 %t, %ctaid.x; setp.eq.u32 %p, %t, 0;\n{body}\nret; }}"
    );
    let arguments = vec!["p=u32[4]:0".parse().expect("an argument")];
    let launch = Launch { grid: [2, 1, 1], block: [1; 3], arguments, dynamic_shared: 0 };
    let source = Source { file: "k.ptx".into(), text };
    let mut world = World::new(source, None, launch).unwrap_or_else(|error| panic!("{error}"));
    let condition = Condition::parse("p[2] == 7", world.ranges()).expect("a condition");
    let report = judge(&mut world, &[condition], &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let Verdict::Violated(violation @ Violation::Assertion { .. }, steps) = &report.verdict else {
        panic!("{:?}", report.verdict)
    };
    let clauses = violation.clauses(Model::Ptx, steps);
    assert!(
        matches!(clauses[..], [clause] if clause.quote.contains("unspecified order on the elements")),
        "{clauses:?}"
    );
    assert!(violation.clauses(Model::Ptx, &[]).is_empty());
}
