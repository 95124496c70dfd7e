//! Prepares a launch of a PTX module: chooses the kernel, and gives its parameters and the variables of the module
//! their bytes.

use std::collections::HashMap;

use wattle_modules::code::{Kernel, Module, Parameter};
use wattle_modules::ptx;

use crate::declared::Declared;
use crate::given_variables;
use crate::launch::{Argument, Buffer, Given, Launch, struct_bytes};
use crate::number::Number;
use crate::range::{Range, address_of, range_of};
use crate::shape::is_given;
use crate::unsupported::Unsupported;
use crate::world::{Part, Source, World, function_name, read};

impl World {
    /// Reads a module, and prepares a launch of one of its kernels: the one of that name, or the only one.
    ///
    /// # Errors
    /// The text is refused, there is no such kernel, the arguments or the shape do not fit, or the kernel has an
    /// instruction that the checker has no meaning for.
    pub fn new(source: Source, entry: Option<&str>, launch: Launch) -> Result<World, Unsupported> {
        let sizes = read(&source, &HashMap::new(), entry)?;
        let mut addresses = HashMap::new();
        for (number, global) in sizes.globals.iter().enumerate() {
            addresses.insert(global.name.clone(), address_of(number));
        }
        let mut module = read(&source, &addresses, entry)?;
        let kernel = chosen(&source, &module, entry)?;
        let (arguments, of_variables) = given_variables::parted(&launch.arguments, &module.kernels[kernel], &module);
        let launch = Launch { arguments, ..launch };
        let mut ranges = Vec::new();
        for global in &module.globals {
            let mut initial: Vec<_> = global.initial.iter().copied().map(Some).collect();
            initial.resize(global.bytes as usize, Some(0));
            let item = if global.bytes == 4 { Some(Number::U32) } else { None };
            // An argument of that name is what the launch means by it.
            let is_taken = launch.arguments.iter().any(|argument| argument.name == global.name);
            ranges.push(Range {
                name: if is_taken { format!("module.{}", global.name) } else { global.name.clone() },
                item,
                bytes: global.bytes,
                initial,
                parts: None,
                member: None,
            });
        }
        given_variables::put(&mut module, kernel, &of_variables, &mut ranges)?;
        is_given(&module.kernels[kernel], &launch)?;
        let variables = given_variables::names(&module);
        let params = parameters(&module.kernels[kernel], &launch.arguments, &variables, &mut ranges)?;
        let mut part = Part::new(source, (module, kernel), launch, params);
        part.of_variables = of_variables;
        if part.reads_workspace() {
            part.workspace = Some(address_of(ranges.len()));
            ranges.push(Range::of_workspace());
        }
        World::of(vec![part], ranges)
    }
}

/// The number of the kernel of that name, or of the only one.
pub(crate) fn chosen(source: &Source, module: &Module, entry: Option<&str>) -> Result<usize, Unsupported> {
    let known = || module.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect();
    match (entry, module.kernels.as_slice()) {
        (_, []) => Err(ptx::ends_without(&source.file, &source.text, "a kernel (`.entry`)").into()),
        (Some(name), kernels) => {
            let exact = kernels.iter().position(|kernel| kernel.name == name);
            // A name as the source has it, where it is one kernel's alone.
            let only = || {
                let mut of_source = (0..kernels.len()).filter(|&number| function_name(&kernels[number].name) == name);
                of_source.next().filter(|_| of_source.next().is_none())
            };
            exact.or_else(only).ok_or_else(|| Unsupported::NoKernel { asked: name.to_owned(), known: known() })
        }
        (None, [_]) => Ok(0),
        (None, _) => Err(Unsupported::SeveralKernels(known())),
    }
}

/// The bytes of the parameters; each buffer among the arguments becomes a range. `variables` are those that may be
/// given contents beside them.
pub(crate) fn parameters(
    kernel: &Kernel,
    arguments: &[Argument],
    variables: &[String],
    ranges: &mut Vec<Range>,
) -> Result<Vec<u8>, Unsupported> {
    let wrong = |why: String| Unsupported::Arguments { why, signature: kernel.signature() };
    if let Some(twice) = repeated(arguments) {
        return Err(wrong(format!("`{twice}` is given twice")));
    }
    if arguments.len() != kernel.params.len() {
        let (given, taken) = (arguments.len(), kernel.params.len());
        let of_variables = match variables {
            [] => String::new(),
            all => format!(
                "; beside them, what the host puts into variables of the module is given by their names: {}",
                all.join(", ")
            ),
        };
        return Err(wrong(format!("the number of arguments (--arg) is {given}, and should be {taken}{of_variables}")));
    }
    are_in_order(kernel, arguments).map_err(wrong)?;
    let mut all = vec![0; kernel.param_bytes as usize];
    for (argument, param) in arguments.iter().zip(&kernel.params) {
        let value = parameter_bytes(argument, param, arguments, ranges).map_err(wrong)?;
        let at = param.at as usize..(param.at + param.bytes) as usize;
        if let Some(there) = all.get_mut(at) {
            there.copy_from_slice(&value);
        }
    }
    Ok(all)
}

/// Whether no argument has the name of a parameter in whose place it is not; the error names one that has.
fn are_in_order(kernel: &Kernel, arguments: &[Argument]) -> Result<(), String> {
    // Compilers number parameters (`k_param_0`); whoever writes PTX names them, and means those.
    let numbered = |name: &str| kernel.params.iter().position(|param| param.name == name);
    let misplaced = |&(at, argument): &(usize, &Argument)| numbered(&argument.name).is_some_and(|own| own != at);
    if let Some((at, argument)) = arguments.iter().enumerate().find(misplaced) {
        return Err(format!(
            "`{}` is given in the place of the parameter `{}`: arguments are taken in the order of the parameters",
            argument.name, kernel.params[at].name
        ));
    }
    Ok(())
}

/// The bytes of a parameter, from its argument; buffers that the argument has become ranges.
fn parameter_bytes(
    argument: &Argument,
    param: &Parameter,
    arguments: &[Argument],
    ranges: &mut Vec<Range>,
) -> Result<Vec<u8>, String> {
    let (name, bytes) = (&argument.name, param.bytes);
    let declared = Declared::of(param.ty);
    let number = |value: u64, size: u64| value.to_le_bytes()[..size as usize].to_vec();
    let value = match &argument.value {
        Given::Typed(ty, value) if declared.takes(*ty) => number(*value, ty.size().into()),
        Given::Typed(ty, _) => {
            let is_given = if ty.is_float() { "a float" } else { "an integer" };
            let is_taken = match (declared, bytes) {
                (Declared::Integers, 8) => {
                    format!("an integer or a pointer: write a buffer as `{name}={}[1]:…`", ty.name())
                }
                (Declared::Integers, _) => "an integer".to_owned(),
                (Declared::Floats | Declared::Bits, _) => "a float".to_owned(),
            };
            return Err(format!("`{name}` is {is_given}, and its parameter {is_taken}"));
        }
        Given::Untyped(text) if bytes == 8 && declared != Declared::Floats && names_buffer(text) => {
            number(address_in(text, ranges).map_err(|why| format!("`{name}`: {why}"))?, 8)
        }
        Given::Untyped(text) => match declared.number(text, bytes) {
            Some(Ok((_, value))) => number(value, bytes),
            Some(Err(_)) => {
                return Err(format!("`{name}`: `{text}` is no number of its parameter's type, {}", param.ty));
            }
            None if bytes == 2 => {
                return Err(format!(
                    "`{name}` is a float of 16 bits, of which there are two kinds: write its type, `{name}=f16:{text}` or \
                     `{name}=bf16:{text}`"
                ));
            }
            None => {
                let sizes = ("is a number".into(), format!("has {bytes} bytes"));
                return Err(of_other_size(name, sizes, param));
            }
        },
        Given::Buffer(buffer) => number(range_of(name, buffer, ranges)?, 8),
        Given::Struct(members) => {
            let taken: Vec<String> = arguments.iter().map(|argument| argument.name.clone()).collect();
            // A member's buffer has its name, unless another has it: then that of the struct stands before it.
            let pointer = &mut |member: &str, buffer: &Buffer| {
                let is_taken =
                    taken.iter().any(|name| name == member) || ranges.iter().any(|range| range.name == member);
                let whole = if is_taken { format!("{name}.{member}") } else { member.to_owned() };
                range_of(&whole, buffer, ranges)
            };
            struct_bytes(members, pointer).map_err(|why| format!("`{name}`: {why}"))?.0
        }
    };
    if value.len() as u64 != bytes {
        return Err(of_other_size(name, (format!("has {} bytes", value.len()), bytes.to_string()), param));
    }
    Ok(value)
}

/// The name that two arguments have.
fn repeated(arguments: &[Argument]) -> Option<&str> {
    let names: Vec<_> = arguments.iter().map(|argument| &argument.name).collect();
    (1..names.len()).find(|&at| names[..at].contains(&names[at])).map(|at| &**names[at])
}

/// What is wrong with an argument that has not the size of its parameter.
fn of_other_size(name: &str, (is, has): (String, String), param: &Parameter) -> String {
    let hint = match param.is_array() {
        true => format!(": a struct, which is given as `{name}={{x=f32[8]:1.0; n=i32:8}}`"),
        false => String::new(),
    };
    format!("`{name}` {is}, and its parameter {has}{hint}")
}

/// Whether what a parameter is given begins as a buffer's name does.
fn names_buffer(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The address of a buffer that another argument is, `x`, or of the item behind some of it, `x+4`.
fn address_in(text: &str, ranges: &[Range]) -> Result<u64, String> {
    let (name, items) = text.split_once('+').map_or((text, "0"), |(name, items)| (name.trim(), items.trim()));
    let number = ranges.iter().position(|range| range.name == name);
    let number = number.ok_or_else(|| format!("`{name}` is no number, and no buffer that is given before it"))?;
    let Range { item, bytes, .. } = &ranges[number];
    let offset = items.parse().ok().and_then(|items: u64| items.checked_mul(item.map_or(1, Number::size).into()));
    let offset = offset.filter(|offset| offset <= bytes);
    Ok(address_of(number) + offset.ok_or_else(|| format!("`{text}` is not in the buffer: write `{name}+1`"))?)
}
