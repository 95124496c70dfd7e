//! Modules, functions, and the linker.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use wattle_modules::code::{Kernel, Module as Code};

use super::allocate::{self, Kind};
use super::config::Config;
use super::context::{self, Context};
use super::handle::Handles;
use super::image::{self, Source};
use super::lock::lock;
use super::status::{Done, Status};
use super::transfer::{self, Where};

/// A module that was loaded into a context.
pub struct Module {
    /// The handle of the module's context.
    pub context: usize,
    /// The compiled code.
    pub image: Code,
    /// The addresses and sizes of the module's variables, by name.
    pub globals: HashMap<String, (u64, u64)>,
}

/// A kernel of a module, as a function of the driver.
pub struct Function {
    /// The function's handle.
    pub handle: usize,
    module_handle: usize,
    /// The module of the function.
    pub module: Arc<Module>,
    index: usize,
    /// The kernel's name, with a zero at the end.
    pub name: String,
    /// The most dynamic shared memory that launches may ask for, in bytes.
    pub most_dynamic: AtomicU32,
}

static MODULES: Handles<Module> = Handles::new();
static FUNCTIONS: Handles<Function> = Handles::new();

/// The most shared memory of a block in bytes, unless a function asks for more.
pub const SHARED: u32 = 48 << 10;

/// The most shared memory of a block in bytes; 1 KiB belongs to the system (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
pub fn most_shared() -> u32 {
    match Config::get().sm {
        70 | 72 => 96 << 10,
        75 => 64 << 10,
        80 | 87 => 163 << 10,
        86 | 89 | 120.. => 99 << 10,
        _ => 227 << 10,
    }
}

impl Function {
    /// The kernel that the function runs.
    pub fn kernel(&self) -> &Kernel {
        &self.module.image.kernels[self.index]
    }
}

/// Loads a module into the current context; the error has the log.
///
/// # Errors
/// It is not an image, or not one for this device.
pub fn load(source: &Source) -> Result<usize, (Status, String)> {
    let quiet = |status| (status, String::new());
    let context = context::current().map_err(quiet)?;
    let sm = Config::get().sm;
    let text = match source {
        Source::Text(text) => text,
        // Binaries run on devices of their generation with the same or a greater minor number.
        Source::Linked(_, of) if of / 10 != sm / 10 || *of > sm => return Err(quiet(Status::ERROR_NO_BINARY_FOR_GPU)),
        Source::Linked(text, _) => text,
    };
    let first = image::compile(text, sm)?;
    let mut globals = HashMap::new();
    for global in &first.globals {
        let address = allocate::allocate(&context, global.bytes.max(1), Kind::Device, 0).map_err(quiet)?;
        transfer::fill(address, 0, 1, global.bytes as usize, (1, 0), None).map_err(quiet)?;
        globals.insert(global.name.clone(), (address, global.bytes));
    }
    let image = if globals.is_empty() {
        first
    } else {
        let addresses = globals.iter().map(|(name, (address, _))| (name.clone(), *address)).collect();
        image::compile_at(text, sm, &addresses)?
    };
    // The initial values may be addresses, which are known now.
    for global in &image.globals {
        let Some(&(address, _)) = globals.get(&global.name) else { continue };
        let from = global.initial.as_ptr().expose_provenance() as u64;
        transfer::bytes((address, Where::Device), (from, Where::Host), global.initial.len(), None).map_err(quiet)?;
    }
    Ok(MODULES.add(|_| Module { context: context.handle, image, globals }).0)
}

/// Unloads a module, once the device has nothing left to do.
///
/// # Errors
/// There is no such module.
pub fn unload(handle: usize) -> Done {
    context::current()?;
    let module = MODULES.remove(handle)?;
    if let Ok(context) = context::find(module.context) {
        context.idle();
    }
    FUNCTIONS.retain(|function| function.module_handle != handle);
    module.globals.values().for_each(|(address, _)| allocate::release(*address));
    Ok(())
}

/// Removes the modules of a context.
pub fn forget(context: usize) {
    FUNCTIONS.retain(|function| function.module.context != context);
    MODULES.retain(|module| module.context != context);
}

/// Makes a function of a module's kernel; returns its handle.
///
/// # Errors
/// There is no such module or kernel.
pub fn function(module_handle: usize, name: &str) -> Done<usize> {
    context::current()?;
    let module = MODULES.get(module_handle)?;
    let index = module.image.kernels.iter().position(|kernel| kernel.name == name).ok_or(Status::ERROR_NOT_FOUND)?;
    let same = |f: &Arc<Function>| f.module_handle == module_handle && f.index == index;
    if let Some(known) = FUNCTIONS.all().into_iter().find(same) {
        return Ok(known.handle);
    }
    let name = format!("{name}\0");
    let most_dynamic = AtomicU32::new(SHARED.saturating_sub(module.image.kernels[index].shared as u32));
    Ok(FUNCTIONS.add(|handle| Function { handle, module_handle, module, index, name, most_dynamic }).0)
}

/// The address and the size of a module's variable.
///
/// # Errors
/// There is no such module or variable.
pub fn global(module: usize, name: &str) -> Done<(u64, u64)> {
    context::current()?;
    MODULES.get(module)?.globals.get(name).copied().ok_or(Status::ERROR_NOT_FOUND)
}

/// The function with this handle.
///
/// # Errors
/// There is no such function.
pub fn find(handle: usize) -> Done<Arc<Function>> {
    context::initialized()?;
    FUNCTIONS.get(handle)
}

/// The most threads per block of a kernel.
pub fn most_threads(kernel: &Kernel) -> u32 {
    let declared = kernel.exact_threads.or(kernel.most_threads);
    declared.map_or(1024, |extents| extents.iter().product::<u32>().min(1024))
}

/// Implements `cuFuncGetAttribute`. The number of registers is nominal, since none are allocated here.
///
/// # Errors
/// There is no such attribute.
pub fn attribute(function: &Function, attribute: i32) -> Done<i32> {
    let kernel = function.kernel();
    let (major, minor) = function.module.image.version;
    Ok(match attribute {
        0 => most_threads(kernel) as i32,
        1 => kernel.shared as i32,
        2 => function.module.image.constant_variables.iter().filter_map(|variable| variable.bytes).sum::<u64>() as i32,
        3 => kernel.local as i32,
        4 => kernel.registers.len().clamp(16, 64) as i32,
        5 => (major * 10 + minor) as i32,
        6 => Config::get().sm as i32,
        7 | 10..=16 => 0,
        8 => function.most_dynamic.load(Ordering::Relaxed) as i32,
        9 => -1,
        _ => return Err(Status::ERROR_INVALID_VALUE),
    })
}

/// Implements `cuFuncSetAttribute`.
///
/// # Errors
/// The attribute cannot be set, or not to that value.
pub fn set_attribute(function: &Function, attribute: i32, value: i32) -> Done {
    match attribute {
        8 => {
            let rest = i64::from(most_shared()) - function.kernel().shared as i64;
            if value < 0 || i64::from(value) > rest {
                return Err(Status::ERROR_INVALID_VALUE);
            }
            function.most_dynamic.store(value as u32, Ordering::Relaxed);
            Ok(())
        }
        9 if (-1..=100).contains(&value) => Ok(()),
        14 | 15 => Ok(()),
        _ => Err(Status::ERROR_INVALID_VALUE),
    }
}

/// How many blocks of a function a multiprocessor has places for.
pub fn resident(function: &Function, threads: u32, dynamic: u64) -> u32 {
    let shared = function.kernel().shared + dynamic;
    if threads == 0 || threads > most_threads(function.kernel()) || shared > u64::from(most_shared()) {
        return 0;
    }
    let by_shared = u64::from(most_shared() + 1024) / (shared + 1024);
    Config::get().blocks_per_sm.min(2048 / threads.next_multiple_of(32)).min(by_shared as u32)
}

/// The state of a link.
pub struct Link {
    /// The compute capability that the link is for.
    pub sm: u32,
    /// The buffer for the log of errors.
    pub log: Option<Log>,
    text: Mutex<Option<String>>,
    result: Mutex<Option<Box<[u8]>>>,
}

/// A buffer of the caller for a log: address, size, and where the used size is written.
#[derive(Clone, Copy)]
pub struct Log {
    /// The address of the buffer.
    pub at: usize,
    /// The size of the buffer in bytes.
    pub bytes: usize,
    /// The address of the option's value, where the used size is written.
    pub size_slot: usize,
}

/// Links that were begun and not destroyed.
pub static LINKS: Handles<Link> = Handles::new();

impl Link {
    /// A link without text.
    pub fn new(sm: u32, log: Option<Log>) -> Link {
        Link { sm, log, text: Mutex::default(), result: Mutex::default() }
    }

    /// Adds PTX; the error has the log.
    ///
    /// # Errors
    /// The text is refused, or it is the second one: soft-cuda links one.
    pub fn add(&self, text: &str) -> Result<(), (Status, String)> {
        image::compile(text, self.sm)?;
        if let Some(folder) = &Config::get().keep {
            image::keep(text, folder);
        }
        let mut own = lock(&self.text);
        if own.is_some() {
            return Err((Status::ERROR_NOT_SUPPORTED, "soft-cuda links one text".to_owned()));
        }
        *own = Some(text.to_owned());
        Ok(())
    }

    /// The address and the size of the linked image, which lives as long as the link.
    ///
    /// # Errors
    /// No text was added.
    pub fn complete(&self) -> Done<(usize, usize)> {
        let text = lock(&self.text).clone().ok_or(Status::ERROR_INVALID_VALUE)?;
        let mut result = lock(&self.result);
        let image = result.get_or_insert_with(|| image::linked(&text, self.sm).into());
        Ok((image.as_ptr().expose_provenance(), image.len()))
    }
}

/// Checks that a function's module belongs to a context.
///
/// # Errors
/// The module belongs to another context.
pub fn belongs(function: &Function, context: &Context) -> Done {
    if function.module.context == context.handle { Ok(()) } else { Err(Status::ERROR_INVALID_HANDLE) }
}
