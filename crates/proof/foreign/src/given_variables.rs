//! What the host puts into a module's variables before a launch, as `cudaMemcpyToSymbol` does: arguments that have
//! their names.

use wattle_modules::code::{Kernel, Module};
use wattle_modules::types::Type;

use crate::declared::Declared;
use crate::launch::{Argument, Given, struct_bytes};
use crate::number::Number;
use crate::range::{Range, range_of};
use crate::unsupported::Unsupported;
use crate::world::plain_name;

/// The first contents of a variable.
struct VariableBytes {
    /// The variable's name in the module.
    name: String,
    bytes: Vec<u8>,
    /// The type of its items, where the argument says it.
    item: Option<Number>,
}

/// The arguments that are the kernel's, and those that are a variable's: of what is given beyond the kernel's
/// parameters.
pub(crate) fn parted(arguments: &[Argument], kernel: &Kernel, module: &Module) -> (Vec<Argument>, Vec<Argument>) {
    let mut more = arguments.len().saturating_sub(kernel.params.len());
    let (mut own, mut of_variables) = (Vec::new(), Vec::new());
    // A parameter may have the name of a variable that another one is given to: the last arguments are the variables'.
    for argument in arguments.iter().rev() {
        let is_variable = more > 0 && variable(module, &argument.name).is_some();
        more -= usize::from(is_variable);
        if is_variable { &mut of_variables } else { &mut own }.push(argument.clone());
    }
    own.reverse();
    of_variables.reverse();
    (own, of_variables)
}

/// The names of the variables that can be given contents, as people write them.
pub(crate) fn names(module: &Module) -> Vec<String> {
    let globals = module.globals.iter().map(|global| plain_name(&global.name));
    let constants = module.constant_variables.iter().map(|constant| plain_name(&constant.name));
    constants.chain(globals).filter(|name| !name.contains('$')).collect()
}

struct Variable<'m> {
    name: &'m str,
    ty: Type,
    bytes: u64,
}

fn variable<'m>(module: &'m Module, name: &str) -> Option<Variable<'m>> {
    let globals =
        module.globals.iter().map(|global| Variable { name: &global.name, ty: global.ty, bytes: global.bytes });
    let constants = module
        .constant_variables
        .iter()
        .filter_map(|constant| Some(Variable { name: &constant.name, ty: constant.ty, bytes: constant.bytes? }));
    globals.chain(constants).find(|variable| variable.name == name || plain_name(variable.name) == name)
}

/// Puts into a module's variables what the host is said to put there.
pub(crate) fn put(
    module: &mut Module,
    kernel: usize,
    arguments: &[Argument],
    ranges: &mut Vec<Range>,
) -> Result<(), Unsupported> {
    for argument in arguments {
        let VariableBytes { name, bytes, item } = contents(argument, module, ranges)
            .map_err(|why| Unsupported::Arguments { why, signature: module.kernels[kernel].signature() })?;
        if let Some(number) = module.globals.iter().position(|global| global.name == name) {
            ranges[number].initial = bytes.into_iter().map(Some).collect();
            ranges[number].item = item.or(ranges[number].item);
        } else if let Some(constant) = module.constant_variables.iter_mut().find(|constant| constant.name == name) {
            constant.has_value = true;
            let at = constant.at as usize;
            module.constants[at..at + bytes.len()].copy_from_slice(&bytes);
        }
    }
    Ok(())
}

/// What an argument puts into the variable of its name. A buffer that is not what the variable holds becomes a range,
/// and the variable a pointer to it.
fn contents(argument: &Argument, module: &Module, ranges: &mut Vec<Range>) -> Result<VariableBytes, String> {
    let Argument { name, value } = argument;
    let Variable { name: own_name, ty, bytes } =
        variable(module, name).ok_or_else(|| format!("the module has no variable `{name}`"))?;
    let declared = Declared::of(ty);
    let check = |given: Number| match declared.takes(given) {
        true => Ok(()),
        false => Err(format!("`{name}` holds {ty}, and {} is given", given.name())),
    };
    let of_number = |ty: Number, value: u64| (value.to_le_bytes()[..usize::from(ty.size())].to_vec(), Some(ty));
    let (given, item) = match value {
        Given::Typed(of, value) => {
            check(*of)?;
            of_number(*of, *value)
        }
        Given::Untyped(text) => {
            let none = || {
                format!("`{name}` has {bytes} bytes: write the type of what it holds, `{name}=i32[{}]:…`", bytes / 4)
            };
            let (ty, value) = declared.number(text, bytes).ok_or_else(none)??;
            of_number(ty, value)
        }
        // What holds an address is given items of another size than its own.
        Given::Buffer(buffer)
            if bytes == 8 && ty.bits == 64 && declared != Declared::Floats && buffer.item.size() < 8 =>
        {
            (range_of(&format!("{name}.to"), buffer, ranges)?.to_le_bytes().to_vec(), None)
        }
        Given::Buffer(buffer) if buffer.len * u64::from(buffer.item.size()) == bytes => {
            check(buffer.item)?;
            let values = buffer.contents.as_ref().ok_or_else(|| format!("`{name}` needs contents, `{name}=…:0`"))?;
            let size = usize::from(buffer.item.size());
            (values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect(), Some(buffer.item))
        }
        Given::Buffer(buffer) if bytes == 8 => {
            (range_of(&format!("{name}.to"), buffer, ranges)?.to_le_bytes().to_vec(), None)
        }
        Given::Buffer(buffer) => {
            let given = buffer.len * u64::from(buffer.item.size());
            return Err(format!("`{name}` has {bytes} bytes, and is given {given}"));
        }
        Given::Struct(members) => {
            let pointer = &mut |member: &str, buffer: &_| range_of(&format!("{name}.{member}"), buffer, ranges);
            (struct_bytes(members, pointer)?.0, None)
        }
    };
    if given.len() as u64 != bytes {
        return Err(format!("`{name}` has {bytes} bytes, and is given {}", given.len()));
    }
    Ok(VariableBytes { name: own_name.to_owned(), bytes: given, item })
}
