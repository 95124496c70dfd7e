//! What compilers other than nvcc write, as Triton and Numba do, and what ptxas takes from them.

use wattle_foreign::{Condition, Launch, Options, Report, Source, Verdict, Violation, World, judge};

use crate::bad_input::{kernel, verdict};

fn launch(block: u32, arguments: &[&str]) -> Launch {
    let arguments = arguments.iter().map(|text| text.parse().expect("an argument")).collect();
    Launch { grid: [1; 3], block: [block, 1, 1], arguments, dynamic_shared: 0 }
}

fn report(source: Source, entry: Option<&str>, launch: Launch, asserted: &[&str]) -> Report {
    let mut world = World::new(source, entry, launch).unwrap_or_else(|error| panic!("{error}"));
    let conditions: Vec<_> = asserted.iter().map(|text| Condition::parse(text, world.ranges()).unwrap()).collect();
    judge(&mut world, &conditions, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn fault(verdict: Verdict) -> String {
    match verdict {
        Verdict::Violated(Violation::Fault { what, .. }, _) => what,
        other => panic!("{other:?}"),
    }
}

fn module(globals: &str, body: &str) -> Source {
    let Source { file, text } = kernel(body);
    Source { file, text: text.replacen(".entry", &format!("{globals}\n.entry"), 1) }
}

#[test]
fn vectors_of_one_item_common_variables_and_an_end_of_string() {
    let body = "ld.global.b32 { %x }, [ %a + 0 ];\nadd.u32 %x, %x, 1;\nst.global.b32 [ %a + 4 ], { %x };";
    let mut source = module(".common .global .align 8 .u64 environment;", body);
    source.text.push('\0');
    let found = report(source, None, launch(1, &["p=u32[2]:4,0"]), &["p[1] == 5"]);
    assert_eq!(found.verdict, Verdict::Holds);
}

#[test]
fn scope_and_order_behind_the_space() {
    let body = "setp.eq.u32 %p, %t, 0; @%p bra WAITS;\nst.global.u32 [%a+4], 7;\nst.global.gpu.release.b32 [%a], 1;\n\
                bra OUT;\nWAITS: ld.global.gpu.acquire.b32 %x, [%a]; setp.eq.u32 %p, %x, 0; @%p bra WAITS;\n\
                ld.global.u32 %y, [%a+4]; st.global.u32 [%a+8], %y;\nOUT:";
    let judged = |body: &str| verdict(kernel(body), 2, &["p=u32[3]:0"], &["p[2] == 7"]);
    assert_eq!(judged(body), Verdict::Holds);
    let relaxed = judged(&body.replace("gpu.acquire", "gpu.relaxed"));
    assert!(matches!(relaxed, Verdict::Violated(Violation::Race { .. }, _)), "{relaxed:?}");
}

/// Compilers fold an index into the address before the loop, so that it goes below 0 and back.
#[test]
fn addresses_of_32_bits_wrap_round() {
    let body = "{ .shared .align 4 .b8 s[128]; mov.u32 %x, s; add.u32 %x, %x, -128; add.u32 %x, %x, %t;\n\
                st.shared.u8 [%x+128], 5; st.shared.u8 [%x+OFFSET], 6; }";
    assert_eq!(verdict(kernel(&body.replace("OFFSET", "255")), 1, &["p=u32[1]"], &[]), Verdict::Holds);
    let what = fault(verdict(kernel(&body.replace("OFFSET", "256")), 1, &["p=u32[1]"], &[]));
    assert_eq!(what, "an access at byte 128 of `s`, which has 128 bytes");
}

#[test]
fn constant_memory_is_of_variables() {
    let constants = ".const .align 4 .u32 first[4] = {1, 2, 3, 4};\n.const .align 4 .u32 second[4] = {5, 6, 7, 8};";
    let body = "mul.wide.u32 %b, %t, 4; mov.u64 %c, first; add.u64 %c, %c, %b; ld.const.u32 %x, [%c];\n\
                add.u64 %b, %a, %b; st.global.u32 [%b], %x;";
    let judged = |threads| {
        let launch = launch(threads, &["p=u32[8]:0"]);
        report(module(constants, body), None, launch, &["p[3] == 4"]).verdict
    };
    assert_eq!(judged(4), Verdict::Holds);
    assert_eq!(fault(judged(5)), "an access at byte 16 of `first`, which has 16 bytes");
}

/// A table of other modules' functions is refused where a kernel uses it, and not for the kernels beside it.
#[test]
fn tables_of_functions_concern_those_who_use_them() {
    let table = ".extern .func f();\n.global .align 8 .u64 table[1] = {f};\n\
                 .entry calls(.param .u64 p) { .reg .u64 %a; ld.global.u64 %a, [table]; ret; }";
    let body = "st.global.u32 [%a], 3;";
    let found = report(module(table, body), Some("k"), launch(1, &["p=u32[1]:0"]), &["p[0] == 3"]);
    assert_eq!(found.verdict, Verdict::Holds);
    let error = World::new(module(table, body), Some("calls"), launch(1, &["p=u32[1]:0"])).expect_err("it is refused");
    let said = "'table' holds the address of 'f', and only addresses of functions, and of .global variables in .global variables, are";
    assert!(error.to_string().contains(said), "{error}");
}

#[test]
fn shared_memory_that_no_launch_has_given_is_named() {
    let shared = ".extern .shared .align 16 .b8 tile[];";
    let source = module(shared, "mov.u32 %x, tile; st.shared.u32 [%x], 1;");
    let found = report(source, None, launch(1, &["p=u32[1]"]), &[]).verdict;
    let what = fault(found);
    assert!(what.contains("`tile`") && what.contains("--dynamic-shared BYTES"), "{what}");
}

/// LLVM counts the lines of inline assembly on from the line that it stands on.
#[test]
fn inline_assembly_stands_on_one_line() {
    let body = ".loc 1 7 3\n// begin inline asm\n.loc 1 7 3\nmov.u32 %x, 1;\n.loc 1 8 3\nst.global.u32 [%a], %t;\n\
                // end inline asm\nadd.u32 %x, %x, 1;\n.loc 1 9 1";
    let source = module(".file 1 \"k.py\"", body);
    let Verdict::Violated(Violation::Race { accesses, .. }, _) =
        report(source, None, launch(2, &["p=u32[1]"]), &[]).verdict
    else {
        panic!("the two stores race")
    };
    assert_eq!(accesses.map(|access| access.at), ["k.py:7:3", "k.py:7:3"]);
}

/// The lanes of a warp store what all of them hold, as Triton's reductions do.
#[test]
fn stores_of_one_value_are_no_race_in_ptx() {
    let body = "{ .shared .align 4 .b8 s[4]; mov.u32 %y, s; ld.global.u32 %x, [%a];\n\
                VALUE st.shared.u32 [%y], %x; BARRIER ld.shared.u32 %x, [%y]; mul.wide.u32 %b, %t, 4;\n\
                add.u64 %b, %a, %b; st.global.u32 [%b+4], %x; }";
    let judged = |value: &str, barrier: &str, plain: bool, threads: u32| {
        let source = kernel(&body.replace("VALUE", value).replace("BARRIER", barrier));
        let mut world = World::new(source, None, launch(threads, &["p=u32[65]:9"])).unwrap();
        world.volatile_is_plain = plain;
        let condition = Condition::parse("p[32] == 9", world.ranges()).unwrap();
        judge(&mut world, &[condition], &Options::default()).unwrap()
    };
    let right = judged("", "bar.sync 0;", false, 32);
    assert_eq!(right.verdict, Verdict::Holds);
    let note = right.note.expect("it says what it rests on");
    assert!(
        note.contains("lanes of a warp store one value to one place at k.ptx:") && note.contains("8.7.2"),
        "{note}"
    );
    let wrong = [
        judged("", "bar.sync 0;", true, 32),
        judged("", "", false, 32),
        judged("add.u32 %x, %x, %t;", "bar.sync 0;", false, 32),
        // Two warps, and memory of the device, are no idiom: the data happens to be equal.
        judged("", "bar.sync 0;", false, 64),
        judged("st.global.u32 [%a], %x;", "bar.sync 0;", false, 32),
    ];
    for (number, report) in wrong.into_iter().enumerate() {
        let verdict = report.verdict;
        assert!(matches!(verdict, Verdict::Violated(Violation::Race { .. }, _)), "{number}: {verdict:?}");
    }
}

/// The number of the item in a column of a row of one of four matrices.
fn item(matrix: u32, row: u32, column: u32) -> u32 {
    64 * matrix + 8 * row + column
}

fn conditions(word: impl Fn(u32, u32) -> u32) -> Vec<String> {
    (0..32)
        .flat_map(|lane| (0..4).map(move |part| (lane, part)))
        .map(|(lane, part)| format!("p[{}] == {}", 4 * lane + part, word(lane, part)))
        .collect()
}

/// A warp whose lane `t` writes row `t % 8` of matrix `t / 8`, and then does something.
fn matrices(then: &str) -> Source {
    kernel(&format!(
        "{{ .reg .u32 %own, %r<4>, %d<4>; .shared .align 16 .b8 s[512];\n\
         mov.u32 %own, s; mad.lo.u32 %own, %t, 16, %own; mul.wide.u32 %b, %t, 16; add.u64 %b, %a, %b;\n\
         mad.lo.u32 %r0, %t, 524296, 65536; add.u32 %r1, %r0, 131074; add.u32 %r2, %r1, 131074;\n\
         add.u32 %r3, %r2, 131074;\n{then}\n}}"
    ))
}

#[test]
fn matrices_are_loaded_by_warps() {
    let loads = "st.shared.v4.u32 [%own], {%r0, %r1, %r2, %r3};\nBARRIER\n\
                 ldmatrix.sync.aligned.m8n8.x4FORM.shared.b16 {%d0, %d1, %d2, %d3}, [%own];\n\
                 st.global.v4.u32 [%b], {%d0, %d1, %d2, %d3};";
    let judged = |form: &str, barrier: &str, word: &dyn Fn(u32, u32) -> u32| {
        let source = matrices(&loads.replace("FORM", form).replace("BARRIER", barrier));
        let asserted = conditions(word);
        let asserted: Vec<&str> = asserted.iter().map(String::as_str).collect();
        verdict(source, 32, &["p=u32[128]:0"], &asserted)
    };
    let rows = |lane: u32, matrix: u32| {
        let of = |column| item(matrix, lane / 4, 2 * (lane % 4) + column);
        of(0) | of(1) << 16
    };
    let columns = |lane: u32, matrix: u32| {
        let of = |row| item(matrix, 2 * (lane % 4) + row, lane / 4);
        of(0) | of(1) << 16
    };
    assert_eq!(judged("", "bar.warp.sync -1;", &rows), Verdict::Holds);
    assert_eq!(judged(".trans", "bar.warp.sync -1;", &columns), Verdict::Holds);
    let early = judged("", "", &rows);
    assert!(matches!(early, Verdict::Violated(Violation::Race { .. }, _)), "{early:?}");
}

#[test]
fn matrices_are_stored_by_warps() {
    let stores = "stmatrix.sync.aligned.m8n8.x4FORM.shared.b16 [%own], {%r0, %r1, %r2, %r3};\nbar.warp.sync -1;\n\
                  ld.shared.v4.u32 {%d0, %d1, %d2, %d3}, [%own];\nst.global.v4.u32 [%b], {%d0, %d1, %d2, %d3};";
    // What lane `t` holds for a matrix.
    let held = |lane: u32, matrix: u32, half: u32| 8 * lane + 2 * matrix + half;
    let row = |word: &dyn Fn(u32, u32, u32) -> u32| {
        let word = |lane: u32, part: u32| {
            let (matrix, row) = (lane / 8, lane % 8);
            word(matrix, row, 2 * part) | word(matrix, row, 2 * part + 1) << 16
        };
        conditions(word)
    };
    let plain = row(&|matrix, row, column| held(4 * row + column / 2, matrix, column % 2));
    let transposed = row(&|matrix, row, column| held(4 * column + row / 2, matrix, row % 2));
    for (form, asserted) in [("", plain), (".trans", transposed)] {
        let asserted: Vec<&str> = asserted.iter().map(String::as_str).collect();
        let found = verdict(matrices(&stores.replace("FORM", form)), 32, &["p=u32[128]:0"], &asserted);
        assert_eq!(found, Verdict::Holds, "{form}");
    }
}

#[test]
fn other_forms_of_matrices_are_refused() {
    let of = |instruction: &str| {
        let source = matrices(instruction);
        World::new(source, None, launch(32, &["p=u32[128]:0"])).expect_err("it is refused").to_string()
    };
    let error = of("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%d0}, [%own];");
    assert!(error.contains("only those of 8 × 8 items of 16 bits are known here"), "{error}");
    let error = of("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%d0}, [%own];");
    assert!(error.contains("one register for each of them"), "{error}");
    let error = of("ldmatrix.sync.aligned.m8n8.x1.b16 {%d0}, [%own];");
    assert!(error.contains("in '.shared' memory only"), "{error}");
}

/// A product of matrices of that many columns and rows, whose numbers are `bits`, with what the lanes hold of them as the ISA has it;
/// `added` is what is added.
fn product(kind: &str, columns: u32, bits: Bits, added: f32) -> (Source, String, Vec<String>) {
    let (per, registers) = if kind == "tf32" { (1, columns / 4) } else { (2, columns / 8) };
    let first = |row: u32, column: u32| ((row * 3 + column) % 5) as f32;
    let second = |row: u32, column: u32| ((row + 2 * column) % 4) as f32;
    let packed = |items: [f32; 2]| bits(items[0]) | if per == 2 { bits(items[1]) << 16 } else { 0 };
    let mut words = Vec::new();
    let mut sums = Vec::new();
    for lane in 0..32u32 {
        let (group, place) = (lane / 4, lane % 4);
        for register in 0..2 * registers {
            let (row, from) = (group + 8 * (register % 2), 4 * per * (register / 2) + per * place);
            words.push(packed([0, 1].map(|item| first(row, from + item))));
        }
        for register in 0..registers {
            let from = 4 * per * register + per * place;
            words.push(packed([0, 1].map(|item| second(from + item, group))));
        }
        for item in 0..4 {
            let (row, column) = (group + 8 * (item / 2), 2 * place + item % 2);
            words.push(added.to_bits());
            let sum: f32 = (0..columns).map(|at| first(row, at) * second(at, column)).sum();
            sums.push(added + sum);
        }
    }
    let held = 3 * registers + 4;
    let list = |name: &str, count: u32| (0..count).map(|at| format!("%{name}{at}")).collect::<Vec<_>>().join(", ");
    let loads: String = [("i", 2 * registers), ("j", registers), ("c", 4)]
        .iter()
        .flat_map(|&(name, count)| (0..count).map(move |at| format!("%{name}{at}")))
        .zip(0..)
        .map(|(register, at)| format!("ld.global.b32 {register}, [%b+{}];\n", 4 * at))
        .collect();
    let body = format!(
        "{{ .reg .b32 %i<4>, %j<2>, %c<4>; mad.wide.u32 %b, %t, {}, %a;\n{loads}\
         mma.sync.aligned.m16n8k{columns}.row.col.f32.{kind}.{kind}.f32 {{{}}}, {{{}}}, {{{}}}, {{{}}};\n\
         mad.wide.u32 %b, %t, 16, %a; st.global.v4.b32 [%b+{}], {{{}}}; }}",
        4 * held,
        list("c", 4),
        list("i", 2 * registers),
        list("j", registers),
        list("c", 4),
        4 * 32 * held,
        list("c", 4),
    );
    let given: Vec<String> = words.iter().map(u32::to_string).chain((0..128).map(|_| "0".into())).collect();
    let asserted = sums.iter().zip(32 * held..).map(|(sum, at)| format!("p[{at}] == {}", sum.to_bits())).collect();
    (kernel(&body), format!("p=u32[{}]:{}", given.len(), given.join(",")), asserted)
}

/// A number in the bits of a kind.
type Bits = fn(f32) -> u32;

const KINDS: [(&str, Bits); 3] = [
    ("f16", |number| [0, 0x3c00, 0x4000, 0x4200, 0x4400][number as usize]),
    ("bf16", |number| number.to_bits() >> 16),
    // The lower bits of its significand do not count.
    ("tf32", |number| number.to_bits() | 0x1fff),
];

#[test]
fn matrices_are_multiplied_by_warps() {
    for (kind, bits) in KINDS {
        let columns = if kind == "tf32" { [4, 8] } else { [8, 16] };
        for columns in columns {
            let (source, given, asserted) = product(kind, columns, bits, 7.0);
            let asserted: Vec<&str> = asserted.iter().map(String::as_str).collect();
            assert_eq!(verdict(source, 32, &[&given], &asserted), Verdict::Holds, "{kind} {columns}");
        }
    }
}

/// In which order a device adds up is left to it, so that what has to round is not known.
#[test]
fn products_that_round_may_be_anything() {
    let (kind, bits) = KINDS[0];
    let (source, given, asserted) = product(kind, 16, bits, 16_777_216.0);
    let asserted: Vec<&str> = asserted.iter().map(String::as_str).collect();
    let found = verdict(source, 32, &[&given], &asserted);
    assert!(matches!(found, Verdict::Unknown(_)), "{found:?}");
    let error = World::new(
        matrices("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0}, {%r0}, {%r1}, {%r2};"),
        None,
        launch(32, &["p=u32[128]:0"]),
    );
    let error = error.expect_err("it is refused").to_string();
    assert!(error.contains("of products of matrices those of f16, bf16 and tf32"), "{error}");
}

/// Tables of branches go where their index says, are passed over where their guard does not hold, and have no end beyond their list.
#[test]
fn branches_by_an_index() {
    let body = "WAYS: .branchtargets ONE, TWO;\nsetp.ne.u32 %p, %t, 3;\n@%p brx.idx %t, WAYS;\nst.global.u32 [%a+8], 9;\nbra OUT;\n\
                ONE: st.global.u32 [%a], 5;\nbra OUT;\nTWO: st.global.u32 [%a+4], 6;\nOUT:";
    let found = verdict(kernel(body), 2, &["p=u32[3]:0"], &["p[0] == 5 && p[1] == 6 && p[2] == 0"]);
    assert_eq!(found, Verdict::Holds);
    let what = fault(verdict(kernel(body), 4, &["p=u32[3]:0"], &[]));
    assert!(what.starts_with("an index beyond the targets of its branch"), "{what}");
    let guarded = body.replace("%t, 3;", "%t, 0;").replace("brx.idx %t", "brx.idx.uni %t");
    let found = verdict(kernel(&guarded), 1, &["p=u32[3]:0"], &["p[0] == 0 && p[2] == 9"]);
    assert_eq!(found, Verdict::Holds);
}
