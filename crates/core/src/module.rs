//! Kernels of modules that were not written with Wattle, with their arguments: what a launch of one is given.
//!
//! A module is text that a driver takes as it is ([`ModuleCode`]), and what its reader says of each kernel: the name
//! and the parameters ([`ModuleEntry`]). [`ModuleEntry::call`] binds buffers and values to the parameters. What the
//! text means is the reader's and the devices' business.

pub(crate) mod code;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use wattle_ir::{Access, ByValue, Dim, Element, ElementLayout, Rank, Site, Type};

use crate::argument::{Argument, ArgumentValue, ViewArgument};
use crate::buffer::{Buffer, Part, RawBuffer, View, ViewMut};
use crate::clock::Region;
use crate::error::{ErrorKind, Result, system};
use crate::kernel::{Kernel, KernelIdentity, KernelInfo, Launch};
use crate::sync::lock;
use crate::thread::Thread;

pub use code::{ModuleCode, ModuleLanguage, ModuleVariable, SeenOfWarps};

/// The numbers that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleNumber {
    /// The parameter takes an integer, or an address.
    Integer,
    /// The parameter takes a floating-point number.
    Float,
    /// The parameter takes any bits of its size.
    Any,
    /// The parameter takes a buffer and no number.
    Buffer,
}

/// A parameter of a module's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleParam {
    /// The name of the parameter.
    pub name: &'static str,
    /// The offset among the parameters' bytes.
    pub offset: u32,
    /// The size in bytes.
    pub bytes: u32,
    /// The numbers that it takes.
    pub takes: ModuleNumber,
}

/// A kernel of a module.
#[derive(Debug)]
pub struct ModuleEntry {
    /// The module that has the kernel.
    pub code: Arc<ModuleCode>,
    /// The kernel's parameters, in the order of its declaration.
    pub params: Vec<ModuleParam>,
    /// The kernel with its parameters, as the text declares them.
    pub signature: String,
    info: &'static KernelInfo,
    number: u64,
}

/// A text that lives as long as the program: names of kernels and parameters do, as those of Wattle's own. Each is kept
/// once.
pub fn lasting(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = lock(&KNOWN);
    if let Some(known) = known.get(text) {
        return known;
    }
    let text: &'static str = Box::leak(text.into());
    known.insert(text);
    text
}

/// The description of a kernel that stands there; kept once, too.
fn info(name: &'static str, site: Site) -> &'static KernelInfo {
    static KNOWN: Mutex<BTreeMap<(&str, &str, u32), &'static KernelInfo>> = Mutex::new(BTreeMap::new());
    lock(&KNOWN)
        .entry((name, site.file, site.line))
        .or_insert_with(|| Box::leak(Box::new(KernelInfo::new(name, site, &[]))))
}

impl ModuleEntry {
    /// A kernel of a module, that stands at a line of its text.
    pub fn new(
        code: Arc<ModuleCode>,
        name: &str,
        line: u32,
        params: Vec<ModuleParam>,
        signature: String,
    ) -> ModuleEntry {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let info = info(lasting(name), Site { file: lasting(&code.file), line, column: 1 });
        ModuleEntry { code, params, signature, info, number: NUMBER.fetch_add(1, Ordering::Relaxed) }
    }

    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// The size of all parameters in bytes.
    pub fn param_bytes(&self) -> usize {
        self.params.last().map_or(0, |last| (last.offset + last.bytes) as usize)
    }

    /// The kernel with its arguments, for launches in `D` dimensions. Whether they fit the parameters is reported by
    /// the launch.
    pub fn call<const D: usize>(self: &Arc<Self>, arguments: impl ModuleArguments) -> ModuleKernel<D> {
        ModuleKernel(ModuleCall { entry: self.clone(), given: arguments.given() })
    }
}

/// An argument of a module's kernel.
#[derive(Clone)]
pub struct Given(Kind);

#[derive(Clone)]
enum Kind {
    View { raw: Arc<RawBuffer>, region: Region, access: Access, rank: usize },
    Value { numbers: Vec<Number>, bytes: usize },
}

/// A number of a value.
#[derive(Clone)]
struct Number {
    ty: Type,
    bytes: Vec<u8>,
    of: Option<(&'static ElementLayout, usize)>,
}

/// What a module's kernel can be given: `&buffer` and `&view`, which other launches may use at the same time;
/// `&mut buffer` and an exclusive view, which none may; a number, and a struct with `#[derive(Element)]`, by value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a module's kernel",
    note = "its arguments are `&buffer`, `&mut buffer`, views, numbers, and structs with `#[derive(Element)]`"
)]
pub trait ModuleArgument {
    #[doc(hidden)]
    fn given(self) -> Given;
}

impl<T: ByValue> ModuleArgument for T {
    fn given(self) -> Given {
        let number = |number: usize| {
            let (ty, bytes, layout) = self.number(number);
            Number { ty, bytes: bytes.to_vec(), of: layout.map(|layout| (layout, number)) }
        };
        Given(Kind::Value { numbers: (0..T::NUMBERS).map(number).collect(), bytes: size_of::<T>() })
    }
}

macro_rules! buffers {
    ($($source:ty: $access:ident $part:expr;)+) => {$(
        impl<T: Element, const D: usize> ModuleArgument for $source
        where
            Dim<D>: Rank,
        {
            fn given(self) -> Given {
                let part: fn($source) -> Part<T, D> = $part;
                let Part { raw, region, .. } = part(self);
                Given(Kind::View { raw, region, access: Access::$access, rank: D })
            }
        }
    )+};
}
buffers! {
    &Buffer<T, D>: Shared |x| x.whole();
    &View<T, D>: Shared |x| x.0.clone();
    &mut Buffer<T, D>: PerItem |x| x.whole();
    &mut ViewMut<T, D>: PerItem |x| x.0.clone();
}

/// The arguments of a module's kernel: a tuple of [`ModuleArgument`]s.
pub trait ModuleArguments {
    #[doc(hidden)]
    fn given(self) -> Vec<Given>;
}

macro_rules! tuples {
    (@ $($name:ident)*) => {
        impl<$($name: ModuleArgument),*> ModuleArguments for ($($name,)*) {
            #[allow(non_snake_case, reason = "a value is named as its type")]
            fn given(self) -> Vec<Given> {
                let ($($name,)*) = self;
                vec![$($name.given()),*]
            }
        }
    };
    ([$($done:ident)*]) => { tuples!(@ $($done)*); };
    ([$($done:ident)*] $name:ident $($rest:ident)*) => {
        tuples!(@ $($done)*);
        tuples!([$($done)* $name] $($rest)*);
    };
}
tuples!([] A B C D E F G H I J K L M N O P Q R S T U V W X);

/// A kernel of a module with its arguments.
#[derive(Clone)]
pub struct ModuleCall {
    entry: Arc<ModuleEntry>,
    given: Vec<Given>,
}

impl ModuleCall {
    /// The kernel that is called.
    pub fn entry(&self) -> &Arc<ModuleEntry> {
        &self.entry
    }

    /// The arguments with the bytes at which each stands among the parameters' bytes: each number of a value, and for a
    /// buffer its address. Their order is that of [`Kernel::argument`].
    pub fn places(&self) -> Vec<std::ops::Range<usize>> {
        let mut places = Vec::new();
        for (param, given) in self.entry.params.iter().zip(&self.given) {
            let from = param.offset as usize;
            match &given.0 {
                Kind::View { .. } => places.push(from..from + ADDRESS),
                Kind::Value { numbers, .. } => places.extend(numbers.iter().map(|number| {
                    let within = number.of.map_or(0, |(layout, at)| layout.numbers()[at].offset as usize);
                    from + within..from + within + number.bytes.len()
                })),
            }
        }
        places
    }

    /// Whether the arguments fit the parameters.
    ///
    /// # Errors
    /// They do not; the error shows the kernel's signature.
    pub(crate) fn fits(&self) -> Result<()> {
        let ModuleEntry { code, params, signature, .. } = &*self.entry;
        let wrong = |why: String| {
            let (kernel, file, signature) = (self.entry.name().to_owned(), code.file.clone(), signature.clone());
            Err(ErrorKind::ModuleArguments { kernel, file, why, signature }.into())
        };
        if self.given.len() != params.len() {
            let (given, taken) = (self.given.len(), params.len());
            return wrong(format!("it takes {taken} {}, and was given {given}", plural(taken)));
        }
        for (number, (param, given)) in params.iter().zip(&self.given).enumerate() {
            let (what, bytes, is_float) = match &given.0 {
                Kind::View { .. } => ("a buffer's address".to_owned(), ADDRESS, Some(false)),
                Kind::Value { numbers, bytes } => match &numbers[..] {
                    [one] => (format!("{} value", with_article(one.ty)), *bytes, Some(one.ty.is_float())),
                    _ => ("a struct".to_owned(), *bytes, None),
                },
            };
            let fits = match (param.takes, is_float) {
                (ModuleNumber::Any, _) => true,
                (ModuleNumber::Buffer, _) => matches!(given.0, Kind::View { .. }),
                (ModuleNumber::Integer, is_float) => is_float == Some(false),
                (ModuleNumber::Float, is_float) => is_float == Some(true),
            };
            if bytes != param.bytes as usize || !fits {
                let (at, name, takes) = (number + 1, param.name, param.bytes);
                let kind = match param.takes {
                    ModuleNumber::Integer => " of an integer",
                    ModuleNumber::Float => " of a float",
                    ModuleNumber::Buffer => " of a buffer",
                    ModuleNumber::Any => "",
                };
                return wrong(format!(
                    "argument {at} is {what} of {bytes} bytes, and its parameter `{name}` takes {takes} bytes{kind}"
                ));
            }
        }
        Ok(())
    }
}

/// The size of an address in bytes.
const ADDRESS: usize = 8;

fn plural(count: usize) -> &'static str {
    if count == 1 { "argument" } else { "arguments" }
}

fn with_article(ty: Type) -> String {
    let article = if ty.is_signed() && !ty.is_float() { "an" } else { "a" };
    format!("{article} {ty}")
}

/// A kernel of a module with its arguments, for launches in `D` dimensions.
#[derive(Clone)]
pub struct ModuleKernel<const D: usize>(ModuleCall);

// SAFETY: the rank is `D`.
// What is no kernel is most often one of Wattle's own with an error.
#[diagnostic::do_not_recommend]
unsafe impl<const D: usize> Launch<D> for ModuleKernel<D> {}

// SAFETY: `argument` names each buffer that the kernel is given. That a device's kernel touches nothing else is what
// the one who vouches for the module promises; the checker finds where it does.
unsafe impl<const D: usize> Kernel for ModuleKernel<D> {
    fn info(&self) -> &'static KernelInfo {
        self.0.entry.info
    }

    fn rank(&self) -> usize {
        D
    }

    fn argument(&self, number: usize) -> Option<Argument<'_>> {
        let mut number = number;
        for (at, given) in self.0.given.iter().enumerate() {
            let name = self.0.entry.params.get(at).map_or("", |param| param.name);
            match &given.0 {
                Kind::View { raw, region, access, rank } if number == 0 => {
                    let view = ViewArgument { buffer: raw, region, access: *access, rank: *rank, number: 0 };
                    return Some(Argument { name, value: ArgumentValue::View(view), number: None });
                }
                Kind::View { .. } => number -= 1,
                Kind::Value { numbers, .. } => match numbers.get(number) {
                    Some(one) => {
                        let value = ArgumentValue::Scalar { ty: one.ty, bytes: &one.bytes };
                        return Some(Argument { name, value, number: one.of });
                    }
                    None => number -= numbers.len(),
                },
            }
        }
        None
    }

    unsafe fn run(&self, _: &Thread<'_>) {
        unreachable!("queues of devices that run kernels on the host take no modules")
    }

    fn build(&self) -> Result<wattle_ir::Kernel> {
        let code = &self.0.entry.code;
        let message = format!("`{}` is a kernel of the {} module {}", self.0.entry.name(), code.language, code.file);
        Err(system("building a kernel's intermediate representation", message))
    }

    fn identity(&self) -> KernelIdentity {
        KernelIdentity::of::<ModuleEntry>(self.0.entry.number)
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        Arc::new(self.clone())
    }

    fn module(&self) -> Option<&ModuleCall> {
        Some(&self.0)
    }
}
