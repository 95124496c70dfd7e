//! Launches of SPIR-V modules.

mod ends;
mod excuse;
mod parameters;
mod question;

use std::collections::HashMap;

use wattle_modules::spirv::{Contents, Lowered, Place, Setting, Spirv, Types, Variable};
use wattle_modules::{Refused, RefusedKind};

pub(crate) use parameters::Parameters;
pub use question::{Answer, Question, answer};

pub use crate::claim::{Claim, Quantifier};
pub use crate::claimed::judge_claimed;
pub use crate::header::{Header, Input, WrongHeader};
use crate::launch::{Argument, Buffer, Given, struct_bytes};
use crate::number::Number;
use crate::range::Range;
use crate::shape::MOST_THREADS;
use crate::unsupported::Unsupported;
use crate::world::{Origin, Part, Source, SpirvLaunch, World};

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

pub(crate) fn contents_of(argument: &Argument) -> Contents {
    match &argument.value {
        Given::Untyped(number) => Contents::Number(number.clone()),
        Given::Typed(ty, bits) => Contents::Bytes(bits.to_le_bytes()[..usize::from(ty.size())].to_vec(), ty.scalar()),
        Given::Buffer(Buffer { item, len, contents: None }) => {
            Contents::Unwritten(len * u64::from(item.size()), item.scalar())
        }
        Given::Buffer(Buffer { item, contents: Some(items), .. }) => {
            let size = usize::from(item.size());
            let bytes = items.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).collect();
            Contents::Bytes(bytes, item.scalar())
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
    let parameters = module.parameter_names(entry).map_err(|refused| match refused.kind {
        RefusedKind::Launch => Unsupported::Shape(refused.message),
        RefusedKind::Text | RefusedKind::Version | RefusedKind::Target => wrong(refused).into(),
    })?;
    let wrong_arguments = |why: String| match signature(file, module, entry) {
        Some(signature) => Unsupported::Arguments { why, signature },
        None => Unsupported::Shape(why),
    };
    if let Some(name) = setting.inputs.keys().filter(|name| !module.takes_contents(name, entry)).min() {
        return Err(wrong_arguments(match (parameters.as_slice(), module.id(name)) {
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
        (RefusedKind::Launch, [_, ..]) => wrong_arguments(refused.message),
        (RefusedKind::Launch, []) => wrong_arguments(format!("{file}:{}: {}", refused.line, refused.message)),
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

/// An entry point with what a launch by names gives it, where its declarations are not refused.
fn signature(file: &str, module: &Spirv, entry: Option<&str>) -> Option<String> {
    if module.parameter_names(entry).ok()?.is_empty() {
        return module.signature(entry).ok();
    }
    let kernel = entry.or_else(|| module.entries().next())?;
    Some(Parameters::of(file, module, kernel).ok()?.signature(kernel))
}

/// Whether everything is given that the kernel reads and the host alone writes: push constants and uniforms. A module
/// whose comments describe its launch leaves open what they do not name; a launch that options describe names all.
///
/// # Errors
/// Something is not given; the error says how to, and shows the kernel's signature.
pub fn all_given(world: &World) -> Result<(), Unsupported> {
    let Some(spirv) = &world.parts[0].spirv else { return Ok(()) };
    let is_missing = |variable: &&Variable| variable.is_given_by_host && variable.is_read && variable.initial.is_none();
    let (Some(missing), Some(origin)) = (spirv.variables().iter().find(is_missing), &spirv.origin) else {
        return Ok(());
    };
    let Variable { name, parts, .. } = missing;
    let example = parts.as_ref().map_or_else(|| "…".to_owned(), |parts| parts.example());
    let why = format!("the kernel reads `{name}`, which is not given: write --arg '{name}={example}'");
    Err(match signature(&origin.file, &origin.module, origin.entry.as_deref()) {
        Some(signature) => Unsupported::Arguments { why, signature },
        None => Unsupported::Shape(why),
    })
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
    let (spirv, kernel) = SpirvLaunch::of(lowered, shared);
    Ok(Part::of_spirv(source, kernel, params, spirv))
}

/// The type of the items of a variable: the module's, and of integers the one that its contents are given as, where
/// that has their size, since OpenCL's SPIR-V does not say whether they have a sign (SPIR-V environment specification
/// of OpenCL, 2.2).
fn items(types: &Types, variable: &Variable) -> Option<Number> {
    let own = types.only_scalar(variable.ty).and_then(Number::of_scalar);
    let given = variable.scalars.and_then(Number::of_scalar);
    let is_alike = |own: Number, given: Number| {
        own.size() == given.size() && !own.is_signed() && !given.is_float() && !own.is_float()
    };
    given.filter(|&given| own.is_none_or(|own| is_alike(own, given))).or(own)
}
