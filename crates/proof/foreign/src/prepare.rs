//! Whether a launch fits its kernel, and the bytes of its parameters.

use std::collections::HashMap;

use wattle_modules::code::{Kernel, Module, Parameter};

use crate::declared::Declared;
use crate::launch::{Argument, Buffer, Given, Launch, struct_bytes};
use crate::number::Number;
use crate::unsupported::Unsupported;
use crate::world::{Range, Source, address_of, function_name, read};

/// The number of the kernel of that name, or of the only one.
pub(crate) fn chosen(module: &Module, entry: Option<&str>) -> Result<usize, Unsupported> {
    let known = || module.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect();
    match (entry, module.kernels.as_slice()) {
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
        (None, []) => Err(Unsupported::Shape("the module has no kernel".into())),
        (None, _) => Err(Unsupported::SeveralKernels(known())),
    }
}

/// The threads of a block that a kernel of a PTX module asks for, by `.reqntid`.
///
/// # Errors
/// The text is refused, or there is no such kernel.
pub fn required_block(source: &Source, entry: Option<&str>) -> Result<Option<[u32; 3]>, Unsupported> {
    let module = read(source, &HashMap::new(), entry)?;
    Ok(module.kernels[chosen(&module, entry)?].exact_threads)
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
    // Compilers number parameters (`k_param_0`); whoever writes PTX names them, and means those.
    let numbered = |name: &str| kernel.params.iter().position(|param| param.name == name);
    let misplaced = |&(at, argument): &(usize, &Argument)| numbered(&argument.name).is_some_and(|own| own != at);
    if let Some((at, argument)) = arguments.iter().enumerate().find(misplaced) {
        return Err(wrong(format!(
            "`{}` is given in the place of the parameter `{}`: arguments are taken in the order of the parameters",
            argument.name, kernel.params[at].name
        )));
    }
    let mut all = vec![0; kernel.param_bytes as usize];
    for (argument, param) in arguments.iter().zip(&kernel.params) {
        let (name, offset, bytes) = (&argument.name, param.at, param.bytes);
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
                return Err(wrong(format!("`{name}` is {is_given}, and its parameter {is_taken}")));
            }
            Given::Untyped(text) if bytes == 8 && declared != Declared::Floats && names_buffer(text) => {
                number(address_in(text, ranges).map_err(|why| wrong(format!("`{name}`: {why}")))?, 8)
            }
            Given::Untyped(text) => match declared.number(text, bytes) {
                Some(Ok((_, value))) => number(value, bytes),
                Some(Err(_)) => {
                    return Err(wrong(format!(
                        "`{name}`: `{text}` is no number of its parameter's type, {}",
                        param.ty
                    )));
                }
                None if bytes == 2 => {
                    return Err(wrong(format!(
                        "`{name}` is a float of 16 bits, of which there are two kinds: write its type, `{name}=f16:{text}` or \
                         `{name}=bf16:{text}`"
                    )));
                }
                None => {
                    let sizes = ("is a number".into(), format!("has {bytes} bytes"));
                    return Err(wrong(of_other_size(name, sizes, param)));
                }
            },
            Given::Buffer(buffer) => number(range_of(name, buffer, ranges).map_err(wrong)?, 8),
            Given::Struct(members) => {
                let taken: Vec<String> = arguments.iter().map(|argument| argument.name.clone()).collect();
                // A member's buffer has its name, unless another has it: then that of the struct stands before it.
                let pointer = &mut |member: &str, buffer: &Buffer| {
                    let is_taken =
                        taken.iter().any(|name| name == member) || ranges.iter().any(|range| range.name == member);
                    let whole = if is_taken { format!("{name}.{member}") } else { member.to_owned() };
                    range_of(&whole, buffer, ranges)
                };
                struct_bytes(members, pointer).map_err(|why| wrong(format!("`{name}`: {why}")))?.0
            }
        };
        if value.len() as u64 != bytes {
            return Err(wrong(of_other_size(name, (format!("has {} bytes", value.len()), bytes.to_string()), param)));
        }
        let at = offset as usize..(offset + bytes) as usize;
        if let Some(there) = all.get_mut(at) {
            there.copy_from_slice(&value);
        }
    }
    Ok(all)
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

/// The address of a buffer, which becomes a range.
pub(crate) fn range_of(name: &str, buffer: &Buffer, ranges: &mut Vec<Range>) -> Result<u64, String> {
    let Buffer { item, len, contents } = buffer;
    if ranges.iter().any(|range| range.name == name) {
        return Err(format!("there are two buffers with the name `{name}`"));
    }
    let size = usize::from(item.size());
    let bytes_of = |items: &Vec<u64>| {
        items.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).map(Some).collect()
    };
    let bytes = len * size as u64;
    let initial = contents.as_ref().map_or_else(|| vec![None; bytes as usize], bytes_of);
    ranges.push(Range { name: name.to_owned(), item: Some(*item), bytes, initial, parts: None, member: None });
    Ok(address_of(ranges.len() - 1))
}

/// The most blocks of a grid in each dimension, and threads of a block (CUDA C++ Programming Guide 12.9, table
/// "Technical Specifications per Compute Capability"; the same for all that this reader knows).
const MOST_GRID: [u32; 3] = [0x7FFF_FFFF, 65_535, 65_535];
const MOST_BLOCK: [u32; 3] = [1024, 1024, 64];
/// The most shared memory of a block in bytes, of any device: those of compute capability 9.0 and 10.0.
const MOST_SHARED: u64 = 227 << 10;

/// Whether some CUDA device gives what a launch asks for.
pub(crate) fn is_given(kernel: &Kernel, launch: &Launch) -> Result<(), Unsupported> {
    let wrong = |why: String| Err(Unsupported::Shape(why));
    for (what, of, asked, most) in [
        ("a grid", "blocks", launch.grid, MOST_GRID),
        ("a block", "threads in its dimensions, and 1024 in all", launch.block, MOST_BLOCK),
    ] {
        if asked.iter().zip(most).any(|(&asked, most)| asked > most) {
            let [x, y, z] = most;
            return wrong(format!(
                "{what} of a CUDA device has at most {x} x {y} x {z} {of} (CUDA C++ Programming Guide, \"Technical Specifications per \
                 Compute Capability\"), not {} x {} x {}",
                asked[0], asked[1], asked[2]
            ));
        }
    }
    let shared = kernel.shared.saturating_add(launch.dynamic_shared);
    if shared > MOST_SHARED {
        return wrong(format!(
            "a block of a CUDA device has at most {MOST_SHARED} bytes of shared memory (227 KB with compute capability 9.0, CUDA C++ \
             Programming Guide, \"Technical Specifications per Compute Capability\"), not {shared}: {} that `{}` declares and {} \
             that are given at launch",
            kernel.shared, kernel.name, launch.dynamic_shared
        ));
    }
    Ok(())
}

/// The most threads of a launch.
const MOST_THREADS: u64 = 1 << 16;

pub(crate) fn shape_fits(kernel: &Kernel, launch: &Launch) -> Result<(), Unsupported> {
    let wrong = |why: String| Err(Unsupported::Shape(why));
    if launch.block_len() == 0 || launch.blocks() == 0 {
        return wrong("a launch has at least one block and one thread".into());
    }
    if launch.block_len() > 1024 {
        return wrong(format!("a block has at most 1024 threads, not {}", launch.block_len()));
    }
    if launch.block_len().saturating_mul(launch.blocks()) > MOST_THREADS {
        return wrong(format!("a launch that is judged has at most {MOST_THREADS} threads"));
    }
    let [x, y, z] = launch.block;
    match (kernel.exact_threads, kernel.most_threads) {
        (Some(exact), _) if exact != launch.block => {
            wrong(format!("`{}` requires blocks of {exact:?} threads (.reqntid), not {:?}", kernel.name, launch.block))
        }
        (_, Some([a, b, c])) if launch.block_len() > u64::from(a) * u64::from(b) * u64::from(c) => wrong(format!(
            "`{}` has at most {a} x {b} x {c} threads in a block (.maxntid), not {x} x {y} x {z}",
            kernel.name
        )),
        _ => Ok(()),
    }
}
