//! A kernel with its launch: what a device is given, and what a file holds.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wattle_core::{Error, ErrorKind, Result};
use wattle_ir::{Access, Const, Kernel, MAX_RANK, Param, ParamId, ParamKind, Type};

use crate::{elements, layout};

/// A kernel with its launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// A note on where the case is from, and what it shows.
    #[serde(default)]
    pub note: String,
    /// Blocks in each dimension of the kernel.
    pub blocks: Vec<u32>,
    /// Threads of a block, in each dimension.
    pub threads: Vec<u32>,
    /// The lanes of a warp, if the kernel uses them; else 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub warp_size: u32,
    /// The length, in elements, of the shared array that is sized at launch.
    pub shared_len: u32,
    /// The arguments, one for each parameter of the kernel.
    pub arguments: Vec<ArgumentValue>,
    /// The kernel that the case launches.
    pub kernel: Kernel,
}

/// The value that a launch gives for a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentValue {
    /// The value of a scalar parameter.
    Scalar(Const),
    /// A view of a buffer of its own.
    View(ViewValue),
    /// A further number of the elements of the view before.
    Number,
}

/// A view of a buffer, and what the buffer holds before the launch. Element type and access are the parameter's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewValue {
    /// The view's extent in each dimension, in elements.
    pub extent: Vec<u32>,
    /// How many elements the buffer has before the view, in each dimension.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before: Vec<u32>,
    /// How many elements the buffer has behind the view, in each dimension.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after: Vec<u32>,
    /// The buffer's elements as raw words, in row-major order, with the numbers of each one behind the other; those
    /// that are not given are 0.
    pub contents: Vec<u64>,
}

fn is_none(lanes: &u32) -> bool {
    *lanes == 0
}

fn is_zero(margin: &[u32]) -> bool {
    margin.iter().all(|&elements| elements == 0)
}

impl ViewValue {
    /// The extent of the buffer.
    pub fn buffer_extent(&self) -> Vec<u32> {
        let margin = |margin: &[u32], d: usize| margin.get(d).copied().unwrap_or(0);
        let extent = self.extent.iter().enumerate();
        extent.map(|(d, &extent)| extent + margin(&self.before, d) + margin(&self.after, d)).collect()
    }

    /// The buffer's elements as raw words; `numbers` is the count of numbers in an element.
    pub fn all_contents(&self, numbers: usize) -> Vec<u64> {
        let count = self.buffer_extent().iter().product::<u32>() as usize * numbers;
        let mut contents = self.contents.clone();
        contents.resize(count, 0);
        contents
    }
}

/// A view of a case, with its parameter, or with those of all numbers of its elements.
#[derive(Clone, Debug)]
pub struct CaseView<'c> {
    /// The parameter's name.
    pub name: &'static str,
    /// The way in which threads share the view.
    pub access: Access,
    /// The first parameter.
    pub param: ParamId,
    /// The types of the numbers of its elements.
    pub numbers: Vec<Type>,
    /// The view's extent and buffer.
    pub value: &'c ViewValue,
}

impl Case {
    /// The threads of the launch.
    pub fn thread_count(&self) -> u32 {
        self.blocks.iter().chain(&self.threads).product()
    }

    /// The views, in the order of the parameters.
    pub fn views(&self) -> impl Iterator<Item = CaseView<'_>> {
        let all = self.kernel.params.iter().zip(&self.arguments).zip(0..);
        all.filter_map(|((param, argument), number)| match (param.kind, argument) {
            (ParamKind::View { access, element, .. }, ArgumentValue::View(value)) => {
                let param_id = ParamId(number);
                let numbers = elements::numbers(&self.kernel, param_id, element);
                Some(CaseView { name: param.name, access, param: param_id, numbers, value })
            }
            _ => None,
        })
    }

    /// The views that the kernel may write.
    pub fn writable_views(&self) -> impl Iterator<Item = CaseView<'_>> {
        self.views().filter(|view| view.access != Access::Read)
    }

    /// Whether shape and arguments fit the kernel, and the kernel is well typed.
    ///
    /// # Errors
    /// A part of the case does not fit.
    pub fn check(&self) -> Result<()> {
        wattle_ir::verify(&self.kernel)?;
        let rank = self.kernel.rank;
        let fits = |extent: &[u32], rank: usize| extent.len() == rank && !extent.contains(&0) && rank <= MAX_RANK;
        if !fits(&self.blocks, rank) || !fits(&self.threads, rank) {
            return Err(Error::check(format!("{:?} x {:?} is no shape of rank {rank}", self.blocks, self.threads)));
        }
        let has_warps = self.warp_size.is_power_of_two();
        if !has_warps && (self.warp_size > 0 || self.kernel.first_use_of_warps().is_some()) {
            return Err(Error::check(format!("warps of {} lanes", self.warp_size)));
        }
        if self.arguments.len() != self.kernel.params.len() {
            let (arguments, params) = (self.arguments.len(), self.kernel.params.len());
            return Err(Error::check(format!("{arguments} arguments for {params} parameters")));
        }
        let all = self.kernel.params.iter().zip(&self.arguments).zip(0..);
        all.into_iter()
            .try_for_each(|((param, argument), id)| check_argument(&self.kernel, ParamId(id), param, argument))
    }

    /// The case as text for a file.
    ///
    /// # Errors
    /// None that is known: all of a case can be written.
    pub fn to_json(&self) -> Result<String> {
        layout::lay_out(self).map_err(|error| unreadable("writing a case", &error))
    }

    /// The case that a file holds.
    ///
    /// # Errors
    /// The text is no case, or its parts do not fit.
    pub fn from_json(text: &str) -> Result<Case> {
        let case: Case = serde_json::from_str(text).map_err(|error| unreadable("reading a case", &error))?;
        case.check()?;
        Ok(case)
    }

    /// Writes the case to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = self.to_json()?;
        std::fs::write(path, text).map_err(|error| unreadable(&format!("writing {}", path.display()), &error))
    }

    /// Reads a case from a file.
    ///
    /// # Errors
    /// The file cannot be read, or holds no case.
    pub fn load(path: &Path) -> Result<Case> {
        let what = format!("reading {}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(&what, &error))?;
        Case::from_json(&text).map_err(|error| unreadable(&what, &error))
    }
}

fn unreadable(what: &str, error: &dyn fmt::Display) -> Error {
    ErrorKind::System { what: what.to_owned(), message: error.to_string() }.into()
}

fn check_argument(kernel: &Kernel, id: ParamId, param: &Param, argument: &ArgumentValue) -> Result<()> {
    let fits = match (param.kind, argument) {
        (ParamKind::Scalar(ty), ArgumentValue::Scalar(value)) => value.ty == ty && is_of(ty, value.raw),
        (ParamKind::View { element, rank, .. }, ArgumentValue::View(view)) => {
            let count = view.extent.iter().zip(&view.before).chain(view.extent.iter().zip(&view.after));
            let small = count.fold(true, |small, (&extent, &margin)| small && (extent | margin) < 1 << 16);
            let numbers = elements::numbers(kernel, id, element);
            let sizes = [&view.extent, &view.before, &view.after].map(Vec::len);
            let sized = sizes[0] == rank && sizes[1..].iter().all(|&len| len == rank || len == 0);
            let small = small && view.extent.iter().all(|&extent| extent > 0 && extent < 1 << 16);
            sized
                && small
                && view.buffer_extent().iter().map(|&extent| extent as u64).product::<u64>() < 1 << 24
                && view.contents.len() <= view.buffer_extent().iter().product::<u32>() as usize * numbers.len()
                && view.contents.iter().zip(numbers.iter().cycle()).all(|(&raw, &ty)| is_of(ty, raw))
                && param.field.is_none_or(|field| field.first == id && elements::row(kernel, id).is_some())
        }
        (ParamKind::View { .. }, ArgumentValue::Number) => param.field.is_some_and(|field| field.first < id),
        _ => false,
    };
    let what = || Error::check(format!("the argument for parameter `{}` does not fit {:?}", param.name, param.kind));
    fits.then_some(()).ok_or_else(what)
}

/// Whether the bits are a value of the type.
fn is_of(ty: Type, raw: u64) -> bool {
    if ty == Type::Bool { raw <= 1 } else { ty.size() == 8 || raw >> (8 * ty.size()) == 0 }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.note.is_empty() {
            writeln!(f, "// {}", self.note)?;
        }
        let warps = if self.warp_size > 0 { format!(", warps of {}", self.warp_size) } else { String::new() };
        let Case { blocks, threads, shared_len, .. } = self;
        writeln!(f, "// {blocks:?} blocks of {threads:?} threads{warps}, shared_len {shared_len}")?;
        for (param, argument) in self.kernel.params.iter().zip(&self.arguments) {
            match argument {
                ArgumentValue::Scalar(value) => writeln!(f, "// {} = {:#x} as {}", param.name, value.raw, value.ty)?,
                ArgumentValue::View(view) => writeln!(f, "// {} of extent {:?}", param.name, view.extent)?,
                ArgumentValue::Number => {}
            }
        }
        write!(f, "{}", self.kernel)
    }
}
