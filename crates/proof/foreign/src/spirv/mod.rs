//! Launches of SPIR-V modules.

mod claim;
mod ends;
mod excuse;
mod header;
mod parameters;
mod question;

use std::collections::{BTreeSet, HashMap};

use wattle_memory::Set;
use wattle_modules::code::{Kernel, Reg, Step};
use wattle_modules::spirv::{
    BuiltInVariable, Contents, Kind, Leaf, Lowered, Place, Scalar, Setting, Shape, SourceLanguage, Spirv, Types,
    Variable,
};
use wattle_modules::types::Space;
use wattle_modules::{Deferred, Refused, RefusedKind};

pub use claim::{Claim, Quantifier};
pub use header::{Header, WrongHeader};
pub(crate) use parameters::Parameters;
pub(crate) use question::NOT_ALL_COME;
pub use question::{Answer, Question, answer};

use crate::condition::Condition;
use crate::judge::{Options, Report, Verdict, judge};
use crate::launch::{Argument, Buffer, Given, struct_bytes};
use crate::number::Number;
use crate::pointers::Pointers;
use crate::unsupported::Unsupported;
use crate::violation::Violation;
use crate::world::{Part, Range, Source, World};

/// The module and the setting that a launch was made from, so that it can be made again of a changed module.
#[derive(Debug)]
pub(crate) struct Origin {
    pub module: Spirv,
    pub file: String,
    pub entry: Option<String>,
    pub setting: Setting,
    /// The sizes of subgroups with which it is judged besides.
    pub sizes: Vec<u32>,
}

/// What a launch of a SPIR-V module has besides its kernel.
#[derive(Debug)]
pub struct SpirvLaunch {
    pub(crate) shape: Shape,
    /// The variables in the memory of a workgroup.
    pub(crate) shared: Vec<Range>,
    local: Vec<Option<u8>>,
    unfixed: Vec<Reg>,
    built_ins: Vec<BuiltInVariable>,
    types: Types,
    variables: Vec<Variable>,
    /// The push constants that nobody has given.
    open: Vec<Leaf>,
    /// The value that stands for contents that nobody has written.
    fill: u64,
    /// For each step that accesses memory, the number of the variable, where the text shows which.
    roots: HashMap<usize, Option<usize>>,
    /// The first step that is sequentially consistent where the environment means more by that than acquire and
    /// release.
    pub(crate) sequential: Option<usize>,
    /// The language whose promise some barrier or fence of buffers rests on.
    pub(crate) promised_by: Option<SourceLanguage>,
    /// What the module declares and is not known, in words.
    pub(crate) unknown: BTreeSet<String>,
    /// The buffers whose stores are left unordered.
    unordered: Vec<u32>,
    pub(crate) origin: Option<Box<Origin>>,
}

impl SpirvLaunch {
    /// The first bytes of a thread's own memory: the built-ins are the thread's.
    pub(crate) fn local_bytes(&self, block: u32, thread: u32) -> Vec<Deferred> {
        let byte =
            |byte: &Option<u8>| byte.map_or(Deferred::Any(self.fill & 0xff), |byte| Deferred::Known(byte.into()));
        let mut bytes: Vec<Deferred> = self.local.iter().map(byte).collect();
        for variable in &self.built_ins {
            let values = self.shape.built_in(variable.which, block, thread).unwrap_or_default();
            for (leaf, value) in variable.leaves.iter().zip(values) {
                let (from, size) = (leaf.offset as usize, leaf.ty.bytes() as usize);
                let value = value.to_le_bytes();
                let known = value[..size].iter().map(|&byte| Deferred::Known(byte.into()));
                bytes.splice(from..from + size, known);
            }
        }
        bytes
    }

    /// The registers of a thread before its first instruction.
    pub(crate) fn registers(&self, count: usize) -> Vec<Deferred> {
        let mut registers = vec![Deferred::Known(0); count];
        for &register in &self.unfixed {
            registers[register as usize] = Deferred::Any(self.fill);
        }
        registers
    }

    /// Whether stores to a buffer may be left unordered: nobody reads it, so their order shows at most in which one is
    /// the last.
    pub(crate) fn is_left_unordered(&self, buffer: u32) -> bool {
        self.unordered.contains(&buffer)
    }

    /// Leaves the stores to buffers that nobody reads unordered, or not: a race is about each of them.
    pub(crate) fn leave_unordered(&mut self, leave: bool) {
        let number = |variable: &Variable| match variable.place {
            Place::Buffer(number) if !variable.is_read => Some(number as u32),
            Place::Buffer(_) | Place::Workgroup(_) | Place::Push => None,
        };
        self.unordered = if leave { self.variables.iter().filter_map(number).collect() } else { Vec::new() };
    }

    /// The variables, and for a step that accesses one, its number, where the text shows which.
    pub(crate) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    pub(crate) fn root(&self, step: usize) -> Option<usize> {
        self.roots.get(&step).copied().flatten()
    }

    /// Whether the module has OpenCL's memory model.
    pub(crate) fn is_opencl(&self) -> bool {
        self.types.is_opencl()
    }

    /// Whether an access beyond a variable is undefined behaviour, and not one to what lies there.
    pub(crate) fn checks_indices(&self) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.setting.checks_indices)
    }

    /// Whether nobody has given the push constant at an offset.
    pub(crate) fn is_open(&self, offset: u64) -> bool {
        self.open.iter().any(|leaf| (leaf.offset..leaf.offset + leaf.ty.bytes()).contains(&offset))
    }

    /// Has a value stand for contents that nobody has given, push constants among them.
    pub(crate) fn fill_with(&mut self, value: u64, push: &mut [u8]) {
        self.fill = value;
        for leaf in &self.open {
            let (from, size) = (leaf.offset as usize, leaf.ty.bytes() as usize);
            push[from..from + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// The value that stands for contents that nobody has written.
    pub(crate) fn fill(&self) -> u64 {
        self.fill
    }

    /// The ranges that the kernel may write from each instruction on: those of the variables that the text names.
    pub(crate) fn pointers(&self, kernel: &Kernel, ranges: usize) -> Pointers {
        let written = |(at, step): (usize, &Step)| {
            let mut written = Set::new(ranges);
            let outline = step.op.outline(|_| {}, |_| {});
            if outline.writes_memory
                && outline.access.is_some_and(|access| matches!(access.space, Space::Global | Space::Generic))
            {
                let root = self.roots.get(&at).copied().flatten().and_then(|root| self.variables.get(root));
                let Some(Place::Buffer(range)) = root.map(|variable| variable.place) else { return None };
                written.insert(range);
            }
            Some(written)
        };
        Pointers::ahead(kernel, kernel.steps.iter().enumerate().map(written).collect())
    }
}

/// Judges a launch, and where it is right what is claimed of its end.
///
/// # Errors
/// A thread came to something that the checker has no meaning for, or the claim cannot be judged.
pub fn judge_claimed(
    world: &mut World,
    claim: Option<&Claim>,
    asserted: &[Condition],
    options: &Options,
) -> Result<Report, Unsupported> {
    let report = judge(world, asserted, options)?;
    let (Verdict::Holds, Some(claim)) = (&report.verdict, claim) else { return Ok(report) };
    let (answer, _) = question::answer(world, &Question::Assertion(claim.clone()), options)?;
    let verdict = match answer {
        Answer::Yes => Verdict::Holds,
        Answer::No(values) => {
            let text = "the claim of the module's comments (@Output)".to_owned();
            Verdict::Violated(Violation::Assertion { text, values }, Vec::new())
        }
        Answer::Unknown(why) => Verdict::Unknown(why),
    };
    Ok(Report { verdict, ..report })
}

/// A module with the name of its file, in either form.
pub fn read(file: &str, bytes: &[u8]) -> Result<Spirv, Unsupported> {
    let is_text = !matches!(bytes, [0x03, 0x02, 0x23, 0x07, ..] | [0x07, 0x23, 0x02, 0x03, ..]);
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) if is_text => wattle_modules::spirv::text(file, text)?,
        _ => wattle_modules::spirv::binary(file, bytes)?,
    })
}

/// The first contents that arguments of the command line give variables, by name.
pub fn contents(arguments: &[Argument]) -> HashMap<String, Contents> {
    arguments.iter().map(|argument| (argument.name.clone(), contents_of(argument))).collect()
}

fn contents_of(argument: &Argument) -> Contents {
    match &argument.value {
        Given::Untyped(number) => Contents::Number(number.clone()),
        Given::Typed(ty, bits) => Contents::Bytes(bits.to_le_bytes()[..usize::from(ty.size())].to_vec(), scalar(*ty)),
        Given::Buffer(Buffer { item, len, contents: None }) => {
            Contents::Unwritten(len * u64::from(item.size()), scalar(*item))
        }
        Given::Buffer(Buffer { item, contents: Some(items), .. }) => {
            let size = usize::from(item.size());
            let bytes = items.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).collect();
            Contents::Bytes(bytes, scalar(*item))
        }
        Given::Struct(members) => {
            let no_pointer = &mut |name: &str, _: &Buffer| {
                Err(format!(
                    "`{name}` is an array, and not all members have names in the module, so that they go by their order alone"
                ))
            };
            let in_order = struct_bytes(members, no_pointer).map(|(bytes, _)| bytes);
            Contents::Members {
                named: members.iter().map(|one| (one.name.clone(), contents_of(one))).collect(),
                in_order,
            }
        }
    }
}

/// The setting, with the module's names of variables for those of the only members of blocks, and for those that only
/// the source has.
fn by_variables(module: &Spirv, entry: Option<&str>, setting: &Setting) -> Setting {
    let mut setting = setting.clone();
    let names: Vec<String> = setting.inputs.keys().cloned().collect();
    for name in names {
        let other = || module.block_with(&name).or_else(|| module.called_by_source(&name));
        let variable = (!module.takes_contents(&name, entry)).then(other).flatten();
        if let Some(variable) = variable.filter(|variable| !setting.inputs.contains_key(variable))
            && let Some(contents) = setting.inputs.remove(&name)
        {
            setting.inputs.insert(variable, contents);
        }
    }
    setting
}

/// Prepares a launch of a module's entry point, the only one unless it is named.
///
/// # Errors
/// The module uses something that is not supported, or the setting does not fit it.
pub fn launch(file: &str, module: &Spirv, entry: Option<&str>, setting: &Setting) -> Result<World, Unsupported> {
    let wrong = |refused: Refused| refused.with_text(file, &module.text);
    let setting = &by_variables(module, entry, setting);
    let parameters = module.parameter_names(entry).map_err(|refused| Unsupported::Shape(refused.message))?;
    if let Some(name) = setting.inputs.keys().filter(|name| !module.takes_contents(name, entry)).min() {
        return Err(Unsupported::Shape(match (parameters.as_slice(), module.id(name)) {
            ([_, ..], _) => {
                let parameters = parameters.join("`, `");
                format!("the kernel has no parameter `{name}`, which is given a value: there are `{parameters}`")
            }
            ([], None) => format!(
                "the module has no result `%{name}`, which is given contents: there are `{}`; push constants and uniforms go by \
                 the name of their block's instance, with all of its members",
                module.names_with_contents().join("`, `")
            ),
            ([], Some(_)) => {
                format!(
                    "`%{name}` is given contents, and is no variable or specialization constant: there are `{}`",
                    module.names_with_contents().join("`, `")
                )
            }
        }));
    }
    let lowered = module.lower(entry, setting).map_err(|refused| match (refused.kind, parameters.as_slice()) {
        (RefusedKind::Launch, [_, ..]) => {
            let signature = |entry: &str| Some(Parameters::of(file, module, entry).ok()?.signature(entry));
            let kernel = entry.or_else(|| module.entries().next());
            match kernel.and_then(signature) {
                Some(signature) => Unsupported::Arguments { why: refused.message, signature },
                None => wrong(refused).into(),
            }
        }
        (RefusedKind::Launch, []) => Unsupported::Shape(refused.message),
        (RefusedKind::Text | RefusedKind::Version | RefusedKind::Target, _) => wrong(refused).into(),
    })?;
    let buffers = ranges(&lowered, |place| matches!(place, Place::Buffer(_)));
    let source = Source { file: file.to_owned(), text: module.text.clone() };
    let mut part = part(lowered, source)?;
    if let Some(spirv) = &mut part.spirv {
        let (module, entry, setting) = (module.clone(), entry.map(str::to_owned), setting.clone());
        spirv.origin = Some(Box::new(Origin { module, file: file.to_owned(), entry, setting, sizes: Vec::new() }));
    }
    Ok(World::of_spirv(part, buffers))
}

/// The variables in places of one kind, as ranges of memory.
fn ranges(lowered: &Lowered, wanted: fn(Place) -> bool) -> Vec<Range> {
    let range = |variable: &Variable| Range {
        name: variable.name.clone(),
        item: items(&lowered.types, variable),
        bytes: variable.bytes,
        parts: variable.parts.clone(),
        member: variable.member.clone(),
        initial: variable
            .initial
            .as_ref()
            .map_or_else(|| vec![None; variable.bytes as usize], |bytes| bytes.iter().copied().map(Some).collect()),
    };
    lowered.variables.iter().filter(|variable| wanted(variable.place)).map(range).collect()
}

/// A launch of a lowered kernel.
///
/// # Errors
/// It has too many threads.
pub(crate) fn part(lowered: Lowered, source: Source) -> Result<Part, Unsupported> {
    let shared = ranges(&lowered, |place| matches!(place, Place::Workgroup(_)));
    let push = lowered.variables.iter().find(|variable| variable.place == Place::Push);
    let params = push.map_or_else(Vec::new, |push| {
        let mut bytes = push.initial.clone().unwrap_or_default();
        bytes.resize(push.bytes as usize, 0);
        bytes
    });
    let threads = u64::from(lowered.shape.threads());
    let count = |all: u64, &extent: &u32| all.saturating_mul(extent.into());
    let workgroups = lowered.shape.workgroups.iter().fold(1, count);
    if threads > 1024 || workgroups == 0 || threads.saturating_mul(workgroups) > MOST_THREADS {
        return Err(Unsupported::Shape(format!(
            "a launch that is judged has at most 1024 threads in a workgroup and {MOST_THREADS} in all, not \
             {workgroups} x {threads}"
        )));
    }
    let open = push.map_or_else(Vec::new, |push| push.open.clone());
    let spirv = SpirvLaunch {
        shape: lowered.shape,
        shared,
        local: lowered.local,
        unfixed: lowered.unfixed,
        built_ins: lowered.built_ins,
        types: lowered.types,
        variables: lowered.variables,
        open,
        fill: 0,
        roots: lowered.roots,
        sequential: lowered.sequential,
        promised_by: lowered.promised_by,
        unknown: lowered.unknown,
        unordered: Vec::new(),
        origin: None,
    };
    Ok(Part::of_spirv(source, lowered.kernel, params, spirv))
}

/// The most threads of a launch.
const MOST_THREADS: u64 = 1 << 16;

/// The types of numbers, and the scalars that they are.
const NUMBERS: [(Number, Kind, u32); 12] = [
    (Number::U32, Kind::Int(false), 32),
    (Number::U32, Kind::Bool, 1),
    (Number::I32, Kind::Int(true), 32),
    (Number::U8, Kind::Int(false), 8),
    (Number::I8, Kind::Int(true), 8),
    (Number::U16, Kind::Int(false), 16),
    (Number::I16, Kind::Int(true), 16),
    (Number::U64, Kind::Int(false), 64),
    (Number::I64, Kind::Int(true), 64),
    (Number::F16, Kind::Float, 16),
    (Number::F32, Kind::Float, 32),
    (Number::F64, Kind::Float, 64),
];

/// The type of numbers that a scalar type is.
pub(crate) fn number_of(scalar: Scalar) -> Option<Number> {
    NUMBERS.iter().find(|(_, kind, bits)| (*kind, *bits) == (scalar.kind, scalar.bits)).map(|(number, ..)| *number)
}

fn scalar(of: Number) -> Option<Scalar> {
    NUMBERS.iter().find(|(number, ..)| *number == of).map(|&(_, kind, bits)| Scalar { kind, bits })
}

/// The type of the items of a variable: the module's, and of integers the one that its contents are given as, where
/// that has their size, since OpenCL's SPIR-V does not say whether they have a sign (SPIR-V environment specification
/// of OpenCL, 2.2).
fn items(types: &Types, variable: &Variable) -> Option<Number> {
    let own = types.only_scalar(variable.ty).and_then(number_of);
    let given = variable.scalars.and_then(number_of);
    let is_alike = |own: Number, given: Number| {
        own.size() == given.size() && !own.is_signed() && !given.is_float() && !own.is_float()
    };
    given.filter(|&given| own.is_none_or(|own| is_alike(own, given))).or(own)
}
