//! Calls by address, as compilers make them of tables of functions and of virtual ones (`cuda/functions.cu`), and atomic operations
//! on numbers of 16 bits (`cuda/halves.cu`).

use wattle_foreign::{Condition, Options, Report, Verdict, Violation, World, judge};

use crate::bad_input::{kernel, launch as launched, refused};
use crate::cuda::{launch, race_at, source};

fn report(file: &str, entry: &str, block: u32, arguments: &[&str], asserted: &[&str]) -> Report {
    let mut world =
        World::new(source(file), Some(entry), launch(1, block, 0, arguments)).unwrap_or_else(|error| panic!("{error}"));
    let conditions: Vec<_> = asserted.iter().map(|text| Condition::parse(text, world.ranges()).unwrap()).collect();
    judge(&mut world, &conditions, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn holds(file: &str, entry: &str, block: u32, arguments: &[&str], asserted: &[&str]) {
    assert_eq!(report(file, entry, block, arguments, asserted).verdict, Verdict::Holds, "{entry} {arguments:?}");
}

#[test]
fn tables_of_functions() {
    let given = ["in=i32[2]:4,7", "out=i32[2]:0"];
    holds("functions", "tables", 2, &[&given[..], &["which=0"]].concat(), &["out[0] == 705 && out[1] == 1007"]);
    holds("functions", "tables", 2, &[&given[..], &["which=1"]].concat(), &["out[0] == 420 || out[0] == 405"]);
    for (adds, asserted) in [("adds=1", "out[0] == 2 && out[3] == 5"), ("adds=0", "out[0] == 2 && out[3] == 3")] {
        holds("functions", "passed", 4, &["out=i32[4]:0", adds], &[asserted]);
    }
    // An index beyond the table.
    let found = report("functions", "tables", 1, &[&given[..], &["which=2"]].concat(), &[]).verdict;
    assert!(
        matches!(&found, Verdict::Violated(Violation::Fault { at, .. }, _) if at.starts_with("functions.cu:15")),
        "{found:?}"
    );
}

#[test]
fn virtual_functions() {
    let given = |plain| ["room=u64[1]:0", "out=i32[1]:0", plain];
    holds("functions", "counts", 3, &given("plain=0"), &["out == 3"]);
    race_at(&report("functions", "counts", 3, &given("plain=1"), &[]), "functions", [32, 32]);
    let hasty = report("functions", "hasty", 2, &given("")[..2], &[]);
    assert!(
        matches!(&hasty.verdict, Verdict::Violated(Violation::Fault { at, .. }, _) if at.starts_with("functions.cu:51")),
        "{hasty:?}"
    );
}

#[test]
fn sums_of_halves() {
    let numbers = ["in=f16[6]:1,2,0.5,4,-8,0.25", "out=f16[2]:0"];
    holds("halves", "pairs", 3, &numbers, &["out[0] == -6.5", "out[1] == 6.25"]);
    holds("halves", "singles", 3, &numbers, &["out[0] == 3.5", "out[1] == 0.0"]);
    holds("halves", "right", 3, &numbers, &["out[0] == -6.5 && out[1] == 6.25"]);
    // Of sums that do not round, the order is not searched.
    holds("halves", "right", 64, &["in=f16[128]:1", "out=f16[2]:0"], &["out[0] == 64.0 && out[1] == 64.0"]);
    race_at(&report("halves", "hasty", 3, &numbers, &[]), "halves", [23, 27]);
    holds("halves", "brains", 3, &["in=bf16[6]:1,2,0.5,4,-8,0.25", "out=bf16[2]:0"], &["out[0] == -6.5"]);
    holds("halves", "vectors", 2, &["in=f32[4]:1,2,3,4", "out=f32[2]:0"], &["out[0] == 4.0 && out[1] == 6.0"]);
}

/// What calls by address cannot reach.
#[test]
fn addresses_of_no_function() {
    let text = |address: &str, body: &str| {
        let mut source = kernel(&format!(
            "{{ .reg .u64 %f; mov.u64 %f, {address};\n.param .b32 g; st.param.b32 [g], 3;\n\
             proto: .callprototype ()_ (.param .b32 _);\ncall %f, (g), proto; }}"
        ));
        source.text = source.text.replacen(".entry", &format!("{body}\n.entry"), 1);
        source
    };
    let taken = ".global .u64 table[1] = {one};";
    let one = format!(".func one(.param .b32 x)\n{{ ret; }}\n{taken}");
    let verdict = |address: &str| crate::bad_input::verdict(text(address, &one), 1, &["p=u32[1]:0"], &[]);
    assert_eq!(verdict("one"), Verdict::Holds);
    for address in ["0", "17", "table"] {
        let found = verdict(address);
        let is_so = matches!(&found, Verdict::Violated(Violation::Fault { what, .. }, _) if what.contains("no function of its type"));
        assert!(is_so, "{address}: {found:?}");
    }
    let other = refused(text("0", ".func one(.param .b64 x)\n{ ret; }"), None, launched(1, &["p=u32[1]:0"]));
    assert!(other.contains("takes the address of no function that this call could reach"), "{other}");
    // Functions that may call themselves so.
    let itself = ".func one(.param .b32 x)\n{ .reg .u64 %h; mov.u64 %h, one; .param .b32 y; st.param.b32 [y], 1;\n\
                  again: .callprototype ()_ (.param .b32 _);\ncall %h, (y), again; ret; }";
    let refused = refused(text("one", itself), None, launched(1, &["p=u32[1]:0"]));
    assert!(refused.contains("the function 'one' calls itself, which is not supported"), "{refused}");
}
