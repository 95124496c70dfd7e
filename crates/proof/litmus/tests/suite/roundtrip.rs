//! Random programs: written in varied styles, read, written by the crate, and read again.

use proptest::prelude::*;
use wattle_litmus::{parse, print};

/// A strategy for one of the words.
fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

fn register() -> impl Strategy<Value = String> {
    (0..4u8).prop_map(|number| format!("r{number}"))
}

fn operand() -> impl Strategy<Value = String> {
    prop_oneof![
        register(),
        any::<i64>().prop_map(|value| value.to_string()),
        (0..4u8).prop_map(|value| value.to_string()),
        any::<u64>().prop_map(|value| format!("{value:#x}")),
    ]
}

fn memory() -> impl Strategy<Value = String> {
    one_of(&["x", "y", "z", "late", "[x]", "other_name"])
}

fn common() -> impl Strategy<Value = String> {
    let arithmetic = one_of(&["add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr"]);
    let branch = one_of(&["beq", "bne", "blt", "ble", "bgt", "bge"]);
    prop_oneof![
        (arithmetic, register(), operand(), operand()).prop_map(|(op, to, a, b)| format!("{op} {to} ,{a}, {b}")),
        (branch, operand(), operand(), 0..3u8).prop_map(|(op, a, b, to)| format!("{op} {a},{b},  LC{to}")),
        (0..3u8).prop_map(|to| format!("goto LC{to}")),
        (register(), operand()).prop_map(|(to, value)| format!("mov {to}, {value}")),
    ]
}

/// A mnemonic with modifiers in any order.
fn dotted(head: &'static str, modifiers: Vec<BoxedStrategy<String>>) -> impl Strategy<Value = String> {
    modifiers.prop_shuffle_all().prop_map(move |parts| {
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        std::iter::once(head.to_owned()).chain(parts).collect::<Vec<_>>().join(".")
    })
}

trait Shuffled {
    fn prop_shuffle_all(self) -> BoxedStrategy<Vec<String>>;
}

impl Shuffled for Vec<BoxedStrategy<String>> {
    fn prop_shuffle_all(self) -> BoxedStrategy<Vec<String>> {
        self.prop_shuffle().boxed()
    }
}

/// Operands of a barrier. A barrier that waits for other threads than those of its scope has numbers of its own, since
/// a number is one barrier.
fn barrier_operands(first: u8) -> impl Strategy<Value = String> {
    (0..3u8, prop::option::of((operand(), prop::option::of(1..4u8)))).prop_map(move |(instance, more)| match more {
        None => format!("{}", first + instance),
        Some((resource, None)) => format!("{}, {resource}", first + instance),
        Some((resource, Some(quorum))) => format!("{}, {resource}, {quorum}", 100 + quorum),
    })
}

fn update_operands() -> impl Strategy<Value = (Option<String>, String, String)> {
    (prop::option::of(register()), memory(), operand())
}

fn ptx() -> BoxedStrategy<String> {
    let scope = || one_of(&["cta", "gpu", "sys"]).boxed();
    let load = dotted("ld", vec![one_of(&["weak", "relaxed", "acquire", "volatile"]).boxed(), scope()]);
    let store = dotted("st", vec![one_of(&["weak", "relaxed", "release", "volatile"]).boxed(), scope()]);
    let order = || one_of(&["relaxed", "acquire", "release", "acq_rel"]).boxed();
    let op = || one_of(&["add", "sub", "exch", "min", "max", "and", "or", "xor", "inc", "dec"]).boxed();
    let atom = dotted("atom", vec![order(), scope(), op()]);
    let cas = dotted("atom", vec![order(), scope(), Just("cas".to_owned()).boxed()]);
    let fence = dotted("fence", vec![one_of(&["sc", "acq_rel", "acquire", "release"]).boxed(), scope()]);
    prop_oneof![
        common(),
        (load, register(), memory()).prop_map(|(head, to, from)| format!("{head} {to}, {from}")),
        (store, memory(), operand()).prop_map(|(head, to, value)| format!("{head} {to}, {value}")),
        (atom, update_operands()).prop_map(|(head, (result, at, operand))| match result {
            Some(result) => format!("{head} {result}, {at}, {operand}"),
            None => format!("{head} {at}, {operand}"),
        }),
        (cas, register(), memory(), operand(), operand())
            .prop_map(|(head, to, at, a, b)| format!("{head} {to}, {at}, {a}, {b}")),
        fence,
        (one_of(&["bar.cta.sync", "bar.cta.arrive", "barrier.sync", "bar.sync"]), barrier_operands(0))
            .prop_map(|(head, operands)| format!("{head} {operands}")),
    ]
    .boxed()
}

fn vulkan() -> BoxedStrategy<String> {
    let maybe = |words| one_of(words).boxed();
    let scope = || maybe(&["sg", "wg", "qf", "dv"]);
    let class = || maybe(&["sc0", "sc1", "sc2", "sc3"]);
    let semantics = || (maybe(&["", "semsc0", "semsc01"]), maybe(&["", "semsc2"]), maybe(&["", "semsc3"]));
    let all = |(a, b, c): (BoxedStrategy<String>, BoxedStrategy<String>, BoxedStrategy<String>)| [a, b, c];
    let with = |mut base: Vec<BoxedStrategy<String>>, semantics: [BoxedStrategy<String>; 3]| {
        base.extend(semantics);
        base
    };
    let word = |word: &'static str| maybe(Box::leak(Box::new([word])));
    let op = maybe(&["", "add", "sub", "exch", "min", "max", "and", "or", "xor", "inc", "dec"]);
    let plain_load =
        dotted("ld", vec![class(), maybe(&["", "nonpriv"]), maybe(&["", "vis"]), maybe(&["", "wg", "dv"])]);
    let plain_store =
        dotted("st", vec![class(), maybe(&["", "nonpriv"]), maybe(&["", "av"]), maybe(&["", "sg", "qf"])]);
    let load =
        dotted("ld", with(vec![word("atom"), class(), scope(), word("acq"), maybe(&["", "semvis"])], all(semantics())));
    let relaxed = dotted("ld", vec![word("atom"), class(), scope()]);
    let store =
        dotted("st", with(vec![word("atom"), class(), scope(), word("rel"), maybe(&["", "semav"])], all(semantics())));
    let rmw = dotted(
        "rmw",
        with(
            vec![word("atom"), class(), scope(), word("acq_rel"), maybe(&["", "semav"]), maybe(&["", "semvis"]), op],
            all(semantics()),
        ),
    );
    let cas = dotted("rmw", vec![word("cas"), class(), scope(), maybe(&["", "acq", "rel"])]);
    let membar = dotted("membar", with(vec![scope(), word("acq_rel"), maybe(&["", "semav"])], all(semantics())));
    let cbar = dotted("cbar", with(vec![scope(), word("acq_rel"), maybe(&["", "semvis"])], all(semantics())));
    let wait = dotted("cbar", vec![scope()]);
    prop_oneof![
        common(),
        (prop_oneof![plain_load, load, relaxed], register(), memory())
            .prop_map(|(head, to, from)| format!("{head} {to}, {from}")),
        (prop_oneof![plain_store, store], memory(), operand())
            .prop_map(|(head, to, value)| format!("{head} {to}, {value}")),
        (rmw, update_operands()).prop_map(|(head, (result, at, operand))| match result {
            Some(result) => format!("{head} {result}, {at}, {operand}"),
            None => format!("{head} {at}, {operand}"),
        }),
        (cas, register(), memory(), operand(), operand())
            .prop_map(|(head, to, at, a, b)| format!("{head} {to}, {at}, {a}, {b}")),
        membar,
        prop_oneof![cbar, wait]
            .prop_flat_map(|head| {
                // Scopes that wait for different threads have numbers of their own.
                let first = if head.contains(".sg") { 10 } else { 0 };
                (Just(head), barrier_operands(first))
            })
            .prop_map(|(head, operands)| format!("{head} {operands}")),
        one_of(&["avdevice", "visdevice"]),
    ]
    .boxed()
}

/// A column with three labels somewhere in the code, so that every jump has a target.
fn column(instruction: BoxedStrategy<String>) -> impl Strategy<Value = Vec<String>> {
    let labels = Just(["LC0:", "LC1:", "LC2:"].map(str::to_owned).to_vec());
    (prop::collection::vec(instruction, 0..6), labels).prop_map(|(code, labels)| [code, labels].concat()).prop_shuffle()
}

fn condition() -> impl Strategy<Value = String> {
    let term = || {
        prop_oneof![
            (0..2u8, 0..6u8).prop_map(|(thread, register)| format!("P{thread}:r{register}")),
            (0..2u8, 0..4u8).prop_map(|(thread, register)| format!("{thread}:r{register}")),
            one_of(&["x", "[y]", "z"]),
            any::<i8>().prop_map(|value| value.to_string()),
        ]
    };
    let compare = (term(), one_of(&["==", "=", "!=", "<", "<=", ">", ">="]), term())
        .prop_map(|(left, comparison, right)| format!("{left} {comparison} {right}"));
    compare.prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} /\\ {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) \\/ {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} /\\ ({b})")),
            inner.clone().prop_map(|a| format!("~({a})")),
            inner.prop_map(|a| format!("not ({a})")),
        ]
    })
}

fn file(dialect: &'static str) -> impl Strategy<Value = String> {
    let instruction = if dialect == "PTX" { ptx() } else { vulkan() };
    let placement = move |number: u8, (a, b, c): (u8, u8, u8)| match dialect {
        "PTX" => format!("P{number}@cta {a},gpu {b}"),
        _ => format!("P{number}@ qf {c} , wg {b},sg {a}"),
    };
    let groups = || (0..3u8, 0..3u8, 0..3u8);
    let statement = (one_of(&["exists", "~exists", "forall", "not exists"]), condition());
    (
        (groups(), groups()),
        column(instruction.clone()),
        column(instruction),
        prop::option::of(condition()),
        prop::option::of(statement),
        prop::bool::ANY,
    )
        .prop_map(move |((first, second), left, right, filter, statement, aliases)| {
            let mut text = format!("{dialect} a-name+1\n\"says\nso\"\nand this\n; no comment\n{{\nz;");
            text.push_str(if aliases { "y aliases x; P1:r2=-4;\nx = 0x10" } else { "x = 1; 1:r1=3; y=2" });
            // Conditions name registers that exist: those with values, and all others.
            let set = if aliases { "P1:r2" } else { "P1:r1" };
            let all = (0..2).flat_map(|thread| (0..6).map(move |register| format!("P{thread}:r{register}")));
            all.filter(|name| name != set).for_each(|name| text.push_str(&format!("; {name}=0")));
            text.push_str(";\n}\n");
            text.push_str(if dialect == "PTX" { "" } else { "{ ssw 0 P1; }\n" });
            text.push_str(&format!("{}|{};\n", placement(0, first), placement(1, second)));
            for row in 0..left.len().max(right.len()) {
                let cell = |column: &[String]| column.get(row).cloned().unwrap_or_default();
                text.push_str(&format!("{} |{}; // a row\n", cell(&left), cell(&right)));
            }
            if let Some(filter) = filter {
                text.push_str(&format!("filter ({filter})\n"));
            }
            if let Some((quantifier, condition)) = statement {
                text.push_str(&format!("{quantifier}\n({condition});\n"));
            }
            text
        })
}

fn comes_back(text: &str) -> Result<(), TestCaseError> {
    let program = parse("written", text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    let printed = print(&program);
    let again = parse("printed", &printed).map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
    prop_assert_eq!(&again, &program, "{}", printed);
    prop_assert_eq!(print(&again), printed);
    Ok(())
}

proptest! {
    #[test]
    fn ptx_programs_come_back(text in file("PTX")) {
        comes_back(&text)?;
    }

    #[test]
    fn vulkan_programs_come_back(text in file("Vulkan")) {
        comes_back(&text)?;
    }

    #[test]
    fn nothing_makes_the_parser_panic(text in "(PTX|Vulkan) t\n\\{[ -~\n]{0,40}\\}\n?P0@(cta 0,gpu 0|sg 0,wg 0,qf 0);[ -~\n]{0,80}") {
        let _ = parse("noise", &text);
    }
}
