//! The launch of a PTX module's kernel that the comments at the head of its text describe.

use wattle_modules::code::Kernel;

use crate::claim::{Claim, Term};
use crate::header::{Header, Input};
use crate::launch::{Argument, Given};
use crate::prepare::chosen;
use crate::unsupported::Unsupported;
use crate::world::{Source, WARP, read};

/// A launch as comments describe it, with the kernel's own names.
#[derive(Debug, Default)]
pub struct Described {
    /// The numbers of blocks, where the comments say them.
    pub grid: Option<[u32; 3]>,
    /// The numbers of threads in a block, where the comments or the kernel say them.
    pub block: Option<[u32; 3]>,
    /// The arguments, in the order of the kernel's parameters, and behind them those of variables of the module.
    pub arguments: Vec<Argument>,
    /// The claim about the ends.
    pub claim: Option<Claim>,
}

impl Described {
    /// Reads the comments at the head of a module; of one without any, what the kernel itself fixes. An input whose
    /// name is a parameter's, or its number, is that one's; the others are those of the remaining parameters in their
    /// order.
    ///
    /// # Errors
    /// A comment is wrong, the text is refused, there is no such kernel, or an input is not for a PTX module.
    pub fn of(source: &Source, entry: Option<&str>) -> Result<Described, Unsupported> {
        let header = Header::read_ptx(&source.text);
        let header = header.map_err(|error| Unsupported::Shape(format!("{}: {error}", source.file)))?;
        let module = read(source, &Default::default(), entry)?;
        let kernel = &module.kernels[chosen(source, &module, entry)?];
        let wrong = |why: String| Unsupported::Arguments { why, signature: kernel.signature() };
        let (grid, block) = header.config.map(shape).transpose().map_err(wrong)?.unzip();
        let mut claim = header.claim;
        let number = |name: &str| parameter(kernel, name);
        if let Some(claim) = &mut claim {
            claim.condition.visit_mut(&mut |term| {
                if let Term::Part(name, _) = term
                    && let Some(number) = number(name)
                {
                    name.clone_from(&kernel.params[number].name);
                }
            });
        }
        let (mut placed, mut others) = (vec![None; kernel.params.len()], Vec::new());
        for (name, input) in header.inputs {
            let at = number(&name);
            let argument = argument(at.map_or(name, |at| kernel.params[at].name.clone()), input).map_err(wrong)?;
            match at.and_then(|at| placed.get_mut(at)) {
                Some(place) if place.is_some() => return Err(wrong(format!("`{}` is given twice", argument.name))),
                Some(place) => *place = Some(argument),
                None => others.push(argument),
            }
        }
        let mut others = others.into_iter();
        let mut arguments: Vec<Argument> = placed.into_iter().filter_map(|one| one.or_else(|| others.next())).collect();
        arguments.extend(others);
        Ok(Described { grid, block: block.or(kernel.exact_threads), arguments, claim })
    }
}

/// The number of the parameter of a name, or of the number that stands for one.
fn parameter(kernel: &Kernel, name: &str) -> Option<usize> {
    let named = kernel.params.iter().position(|param| param.name == name);
    named.or_else(|| name.parse().ok().filter(|&number| number < kernel.params.len()))
}

/// The grid and the block of a configuration: lanes of a warp, warps of a block, blocks.
fn shape([lanes, warps, blocks]: [u32; 3]) -> Result<([u32; 3], [u32; 3]), String> {
    if lanes > WARP || warps > 1 && lanes != WARP {
        return Err(format!(
            "@Config: a warp of PTX has {WARP} lanes, of which the last of a block alone may have fewer: write \
             `{WARP}, {}, {blocks}` for blocks of whole warps, or `{}, 1, {blocks}` for one warp",
            (lanes * warps).div_ceil(WARP),
            lanes.min(WARP)
        ));
    }
    Ok(([blocks, 1, 1], [lanes * warps, 1, 1]))
}

/// An argument of that name, as an input says it.
fn argument(name: String, input: Input) -> Result<Argument, String> {
    use wattle_modules::spirv::Contents;
    let value = match input {
        Input::Given(value) => value,
        Input::Contents(Contents::Number(text)) => Given::Untyped(text),
        Input::Contents(
            Contents::List(_) | Contents::Bytes(..) | Contents::Members { .. } | Contents::Unwritten(..),
        ) => {
            return Err(format!(
                "@Input: PTX does not say what the items of `%{name}` are: write `%{name} = u32[3]:0,1,2` or \
                 `%{name} = f32[8]:0.0`"
            ));
        }
    };
    Ok(Argument { name, value })
}
