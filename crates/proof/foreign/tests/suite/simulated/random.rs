//! Random small modules: few threads that load, store, update, fence and meet at barriers, with all orders, scopes and sizes.
//!
//! What a seed of the simulated device reports the checker reports too, and what a seed leaves is among what the checker permits.
//! Where the checker finds no violation, no seed reports one.

use std::fmt::Write as _;

use wattle_check::Simulated as _;
use wattle_check::checker::{Checker, Verdict};
use wattle_core::{Device, Result, ThreadSpec};
use wattle_foreign::Module;
use wattle_memory::Model;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

/// Numbers by a linear congruence (Knuth, "The Art of Computer Programming", volume 2, 3.3.4: the one of MMIX).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// The sizes of a module's accesses: all of one size, or plain ones of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    One,
    Any,
}

/// A module with a kernel whose threads each have a few instructions of their own, on two words `data` and the words `out`.
fn module(numbers: &mut Numbers, threads: usize, sizes: Sizes) -> String {
    let mut text = String::from(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 data, .param .u64 out)\n\
         { .reg .u64 %d, %o; .reg .u32 %t, %b, %r<9>; .reg .pred %p;\n\
         ld.param.u64 %d, [data]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n\
         mov.u32 %r0, %ntid.x; mad.lo.u32 %t, %b, %r0, %t; mad.wide.u32 %o, %t, 16, %o;\n",
    );
    let meets = numbers.below(4) == 0;
    for thread in 0..threads {
        let _ = writeln!(text, "setp.ne.u32 %p, %t, {thread}; @%p bra N{thread};");
        let mut loads = 0;
        let count = 1 + numbers.below(4);
        for at in 0..count {
            let (word, scope) = (4 * numbers.below(2), numbers.one_of(&["cta", "gpu", "gpu", "sys"]));
            let value = 1 + numbers.below(3);
            let size = |numbers: &mut Numbers| match sizes {
                Sizes::One => (32, word),
                Sizes::Any => {
                    let bytes = numbers.one_of(&[1usize, 2, 4]);
                    (8 * bytes, word + bytes * numbers.below(4 / bytes))
                }
            };
            let _ = match numbers.below(12) {
                0 | 1 => {
                    let (bits, byte) = size(numbers);
                    writeln!(text, "st.global.u{bits} [%d+{byte}], {value};")
                }
                2 => {
                    let (bits, byte) = size(numbers);
                    let written = writeln!(text, "ld.global.u{bits} %r{loads}, [%d+{byte}];");
                    loads += 1;
                    written
                }
                3 | 4 => writeln!(
                    text,
                    "st.{}.{scope}.global.u32 [%d+{word}], {value};",
                    numbers.one_of(&["relaxed", "release"])
                ),
                5 | 6 => {
                    let order = numbers.one_of(&["relaxed", "acquire"]);
                    let written = writeln!(text, "ld.{order}.{scope}.global.u32 %r{loads}, [%d+{word}];");
                    loads += 1;
                    written
                }
                7 => {
                    let order = numbers.one_of(&["relaxed", "acquire", "release", "acq_rel"]);
                    let how = numbers.one_of(&["add.u32", "exch.b32"]);
                    let written = writeln!(text, "atom.{order}.{scope}.global.{how} %r{loads}, [%d+{word}], {value};");
                    loads += 1;
                    written
                }
                8 => {
                    let written =
                        writeln!(text, "atom.relaxed.{scope}.global.cas.b32 %r{loads}, [%d+{word}], 0, {value};");
                    loads += 1;
                    written
                }
                9 | 10 => writeln!(text, "fence.{}.{scope};", numbers.one_of(&["acq_rel", "sc"])),
                _ => Ok(()),
            };
            if meets && at == count / 2 {
                let _ = writeln!(text, "barrier.sync 0;");
            }
        }
        for load in 0..loads {
            let _ = writeln!(text, "st.global.u32 [%o+{}], %r{load};", 4 * load);
        }
        let _ = writeln!(text, "ret;\nN{thread}:");
    }
    text + "ret; }\n"
}

/// A SPIR-V module in the making: its constants, and its only function.
struct Words {
    constants: BTreeSet<u32>,
    body: String,
    names: u32,
}

impl Words {
    /// The name of a constant.
    fn number(&mut self, value: u32) -> String {
        self.constants.insert(value);
        format!("%c{value}")
    }

    fn line(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%n{}", self.names)
    }
}

/// Scopes of SPIR-V (SPIR-V 3.27): device, workgroup, queue family.
const SCOPES: [u32; 4] = [1, 2, 5, 5];
/// Bits of memory semantics (SPIR-V 3.25).
const ACQUIRE: u32 = 2;
const RELEASE: u32 = 4;
const ACQUIRE_RELEASE: u32 = 8;
const UNIFORM: u32 = 0x40;
const WORKGROUP: u32 = 0x100;
const AVAILABLE: u32 = 0x2000;
const VISIBLE: u32 = 0x4000;

/// A SPIR-V module with a kernel whose threads each have a few instructions of their own, on two words of a buffer and one of the
/// workgroup's memory.
fn spirv_module(numbers: &mut Numbers, threads: u32) -> String {
    let mut words = Words { constants: BTreeSet::new(), body: String::new(), names: 0 };
    let classes =
        |numbers: &mut Numbers| numbers.one_of(&[UNIFORM, UNIFORM | WORKGROUP, WORKGROUP, UNIFORM | WORKGROUP]);
    let parts = 1 + numbers.below(2);
    for part in 0..parts {
        for thread in 0..threads {
            let (is, body, end) = (words.name(), words.name(), words.name());
            let number = words.number(thread);
            words.line(&format!("{is} = OpIEqual %bool %thread {number}\nOpSelectionMerge {end} None"));
            words.line(&format!("OpBranchConditional {is} {body} {end}\n{body} = OpLabel"));
            for _ in 0..numbers.below(4) {
                let word = numbers.one_of(&["%data0", "%data1", "%shared"]);
                let scope = words.number(numbers.one_of(&SCOPES));
                let value = words.number(1 + numbers.below(3) as u32);
                let result = words.name();
                let line = match numbers.below(9) {
                    0 | 1 => {
                        let how = numbers.one_of(&["None", "NonPrivatePointer", "available", "available"]);
                        let how = how.replace("available", &format!("NonPrivatePointer|MakePointerAvailable {scope}"));
                        format!("OpStore {word} {value} {how}")
                    }
                    2 | 3 => {
                        let how = numbers.one_of(&["None", "NonPrivatePointer", "visible", "visible"]);
                        let how = how.replace("visible", &format!("NonPrivatePointer|MakePointerVisible {scope}"));
                        format!("{result} = OpLoad %uint {word} {how}\nOpAtomicStore %out0 %c5 %c0 {result}")
                    }
                    4 => {
                        let order = numbers.one_of(&[0, RELEASE, RELEASE | AVAILABLE, RELEASE | AVAILABLE]);
                        let semantics = words.number(if order == 0 { 0 } else { order | classes(numbers) });
                        format!("OpAtomicStore {word} {scope} {semantics} {value}")
                    }
                    5 => {
                        let order = numbers.one_of(&[0, ACQUIRE, ACQUIRE | VISIBLE, ACQUIRE | VISIBLE]);
                        let semantics = words.number(if order == 0 { 0 } else { order | classes(numbers) });
                        format!(
                            "{result} = OpAtomicLoad %uint {word} {scope} {semantics}\nOpAtomicStore %out0 %c5 %c0 {result}"
                        )
                    }
                    6 => {
                        let order = numbers.one_of(&[0, ACQUIRE, RELEASE, ACQUIRE_RELEASE | AVAILABLE | VISIBLE]);
                        let semantics = words.number(if order == 0 { 0 } else { order | classes(numbers) });
                        format!("{result} = OpAtomicIAdd %uint {word} {scope} {semantics} {value}")
                    }
                    _ => {
                        let order = numbers.one_of(&[
                            ACQUIRE | VISIBLE,
                            RELEASE | AVAILABLE,
                            ACQUIRE_RELEASE | AVAILABLE | VISIBLE,
                        ]);
                        let semantics = words.number(order | classes(numbers));
                        format!("OpMemoryBarrier {scope} {semantics}")
                    }
                };
                words.line(&line);
            }
            words.line(&format!("OpBranch {end}\n{end} = OpLabel"));
        }
        if part + 1 < parts {
            let semantics =
                numbers.one_of(&[0, ACQUIRE_RELEASE | AVAILABLE | VISIBLE, ACQUIRE_RELEASE | AVAILABLE | VISIBLE]);
            let semantics = words.number(if semantics == 0 { 0 } else { semantics | classes(numbers) });
            let group = words.number(2);
            words.line(&format!("OpControlBarrier {group} {group} {semantics}"));
        }
    }
    words.number(0);
    words.number(5);
    let text = crate::spirv::module("", "Vulkan", &format!("{}OpReturn", words.body));
    let constants = words.constants.iter().fold(String::new(), |mut all, value| {
        let _ = writeln!(all, "%c{value} = OpConstant %uint {value}");
        all
    });
    text.replace("%true = OpConstantTrue", &format!("{constants}%true = OpConstantTrue")).replace(
        "OpCapability Shader",
        "OpCapability Shader\nOpCapability VulkanMemoryModel\nOpCapability VulkanMemoryModelDeviceScope",
    )
}

fn scenario(device: &Device, model: Model, text: &str, shape: [usize; 2]) -> Result<String> {
    let (queue, data) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
    let out = device.alloc_zeroed::<u32>(4 * shape[0] * shape[1])?;
    let shape = ThreadSpec::new(shape[0], shape[1]);
    match model {
        Model::Vulkan => {
            let kernel = Module::spirv_file("random.spvasm", text)?.kernel("main")?;
            queue.launch(shape, kernel.args((&out, &data)))?;
        }
        _ => {
            let kernel = Module::ptx_file("random.ptx", text)?.kernel("k")?;
            queue.launch(shape, kernel.args((&data, &out)))?;
        }
    }
    Ok(format!("{:?}", (data.read(&queue)?, out.read(&queue)?)))
}

/// What some modules have shown.
#[derive(Debug, Default)]
struct Tally {
    hold: u32,
    violated: u32,
    /// Those that some seed has found violated.
    found: u32,
    /// Those that the checker does not judge.
    unknown: u32,
}

fn campaign(cases: std::ops::Range<u64>, sizes: Sizes, model: Model) -> Tally {
    let mut tally = Tally::default();
    for case in cases {
        let mut numbers = Numbers(case.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let shape = numbers.one_of(&[[2, 1], [1, 2], [3, 1], [1, 3]]);
        let text = match model {
            Model::Vulkan => spirv_module(&mut numbers, (shape[0] * shape[1]) as u32),
            _ => module(&mut numbers, shape[0] * shape[1], sizes),
        };
        let permitted = Mutex::new(BTreeSet::new());
        let report = Checker::new(model).time(Duration::from_secs(2)).check(|device| {
            let left = scenario(device, model, &text, shape)?;
            permitted.lock().expect("nobody panics").insert(left);
            Ok(())
        });
        let verdict = match &report {
            Ok(report) => report.verdict,
            Err(error) => {
                assert!(error.to_string().contains("judge"), "{error}\n{text}");
                Verdict::Unknown
            }
        };
        let permitted = permitted.into_inner().expect("nobody panics");
        let mut is_found = false;
        for seed in 0..12 {
            let left = scenario(&Device::simulated(seed), model, &text, shape);
            match (verdict, &left) {
                (Verdict::Holds, Ok(left)) => {
                    assert!(
                        permitted.contains(left),
                        "case {case}, seed {seed} leaves {left}, not {permitted:?}\n{text}"
                    )
                }
                (Verdict::Holds, Err(error)) => panic!("case {case}, seed {seed}: {error}\n{text}"),
                (Verdict::Violated | Verdict::Unknown, left) => is_found |= left.is_err(),
            }
        }
        match verdict {
            Verdict::Holds => tally.hold += 1,
            Verdict::Violated => {
                tally.violated += 1;
                tally.found += u32::from(is_found);
            }
            Verdict::Unknown => tally.unknown += 1,
        }
    }
    tally
}

#[test]
fn accesses_of_one_size() {
    for model in [Model::Ptx, Model::Portable] {
        let tally = campaign(0..150, Sizes::One, model);
        println!("{model:?}: {tally:?}");
        assert!(tally.hold > 20 && tally.found * 10 > tally.violated * 9, "{tally:?}");
    }
}

#[test]
fn accesses_of_any_size() {
    let tally = campaign(1000..1150, Sizes::Any, Model::Ptx);
    println!("{tally:?}");
    assert!(tally.hold > 10 && tally.found * 10 > tally.violated * 9, "{tally:?}");
}

/// Chains of availability and visibility operations are not followed, so that not all races are found.
#[test]
fn accesses_of_vulkan() {
    let tally = campaign(2000..2300, Sizes::One, Model::Vulkan);
    println!("{tally:?}");
    assert!(tally.hold > 20 && tally.unknown < 30 && tally.found * 4 > tally.violated * 3, "{tally:?}");
}
