//! Kernels as machine code: each is built once for a device, and compiled once for each size of its blocks.

use std::ffi::{CStr, CString};
use std::sync::{Arc, Mutex, OnceLock, RwLockWriteGuard};
use wattle_ir::format_index;

use rustc_hash::FxHashMap;
use wattle_core::{
    Error, ErrorKind, Fault, FaultKind, Kernel, KernelIdentity, ModuleCode, ModuleEntry, Result, lock, system,
};
use wattle_gpu::{CacheFolder, cannot};
use wattle_ir::builder::Builder;
use wattle_ir::{MAX_RANK, Site};
use wattle_ptx::{FaultSite, Lacking, LaunchLayout};

use crate::builtin::Builtins;
use crate::context::Context;
use crate::driver::{Function, Module, link};
use crate::exit;

/// All kernels of a device that have been built.
#[derive(Default)]
pub(crate) struct Modules {
    kernels: Mutex<FxHashMap<KernelIdentity, Arc<Built>>>,
    pub(crate) builtins: Builtins,
    /// The modules that were not written with Wattle, once they are loaded.
    loaded: Mutex<Vec<(Arc<ModuleCode>, Module)>>,
}

/// A kernel that has been built.
pub(crate) struct Built {
    /// The intermediate representation; of a module's kernel it has the name alone.
    pub(crate) kernel: wattle_ir::Kernel,
    /// The module's kernel, if it is one.
    pub(crate) module: Option<Arc<ModuleEntry>>,
    codes: Mutex<FxHashMap<u32, Arc<Code>>>,
}

impl Built {
    pub(crate) fn new(kernel: wattle_ir::Kernel) -> Built {
        Built { kernel, module: None, codes: Mutex::default() }
    }

    fn of_module(entry: &Arc<ModuleEntry>, site: Site) -> Result<Built> {
        let kernel = Builder::new(entry.name(), site, 1).finish()?;
        Ok(Built { module: Some(entry.clone()), ..Built::new(kernel) })
    }
}

/// A kernel as machine code, for a limited number of threads per block.
pub(crate) struct Code {
    pub(crate) layout: LaunchLayout,
    pub(crate) sites: Vec<FaultSite>,
    pub(crate) function: Function,
    /// The most threads per block.
    pub(crate) most_threads: u32,
    /// The most bytes of shared memory that the driver allows a launch to give so far.
    allowed_shared: Mutex<u32>,
    /// How many blocks run at once on a multiprocessor, by threads per block and bytes of shared memory.
    occupancy: Mutex<FxHashMap<(u32, u32), u32>>,
}

/// The least size of blocks that code is made for, in threads: the more threads, the fewer registers for each.
const LEAST_THREADS: u32 = 128;

impl Context {
    /// The kernel as it was built; it is built now if it was not yet.
    ///
    /// `shared_len` is the length of the shared array that is sized at launch: more shared memory than the device has
    /// is reported before anything else that the kernel lacks.
    pub(crate) fn built(&self, kernel: &dyn Kernel, shared_len: u32) -> Result<Arc<Built>> {
        let identity = kernel.identity();
        if let Some(built) = lock(&self.modules.kernels).get(&identity) {
            return Ok(built.clone());
        }
        let built = match kernel.module() {
            Some(call) => Built::of_module(call.entry(), kernel.info().site)?,
            None => {
                let kernel = kernel.build()?;
                self.has_shared(&kernel, shared_len)?;
                Built::new(kernel)
            }
        };
        let built = Arc::new(built);
        // Two threads may build the same kernel; the second result is dropped.
        Ok(lock(&self.modules.kernels).entry(identity).or_insert(built).clone())
    }

    /// The size of blocks whose code serves `threads` threads per block.
    fn size(&self, threads: u32) -> u32 {
        let most = self.physical.properties.max_threads_per_block;
        threads.min(most).next_power_of_two().clamp(LEAST_THREADS, most.max(LEAST_THREADS)).min(most)
    }

    /// Whether there is machine code for `threads` threads per block.
    pub(crate) fn has_code(&self, built: &Built, threads: u32) -> bool {
        lock(&built.codes).contains_key(&self.size(threads))
    }

    /// The machine code for `threads` threads per block.
    ///
    /// If there is none yet it is made, and loaded when nothing is in flight on the device, or else after a while.
    pub(crate) fn code(&self, built: &Built, threads: u32) -> Result<Arc<Code>> {
        let size = self.size(threads);
        // A second thread that needs the same code waits here until it is made.
        let mut codes = lock(&built.codes);
        if let Some(code) = codes.get(&size) {
            return Ok(code.clone());
        }
        let made = match &built.module {
            Some(entry) => self.of_module(entry)?,
            None => self.make(&built.kernel, size)?,
        };
        let code = Arc::new(made);
        codes.insert(size, code.clone());
        Ok(code)
    }

    /// The machine code of a module's kernel. A module is loaded once: its variables keep their values.
    fn of_module(&self, entry: &ModuleEntry) -> Result<Code> {
        self.enter()?;
        let named = |text: &[u8]| CString::new(text).map_err(|error| system("naming a kernel's code", error));
        let mut loaded = lock(&self.modules.loaded);
        let known = loaded.iter().find(|(code, _)| Arc::ptr_eq(code, &entry.code));
        let module = match known {
            Some((_, module)) => *module,
            None => {
                let (module, _alone) = self.load(entry.name(), &named(&entry.code.bytes)?)?;
                loaded.push((entry.code.clone(), module));
                module
            }
        };
        // What a launch gives is all at launch: each byte of `shared_len`.
        let layout = LaunchLayout {
            arguments: Vec::new(),
            shared_bytes: 0,
            shared_bytes_at_launch: 0,
            launch_sized_element: Some(1),
        };
        self.function(module, entry.name(), &named(entry.name().as_bytes())?, layout, u32::MAX)
    }

    fn make(&self, kernel: &wattle_ir::Kernel, threads: u32) -> Result<Code> {
        let target = self.physical.target.with_max_threads(threads);
        let wattle_ptx::Module { header, body, entry, layout, sites, .. } =
            wattle_ptx::build(kernel, &target).map_err(|lacking| self.lacks(&lacking))?;
        let named = |text: String| CString::new(text).map_err(|error| system("naming a kernel's code", error));
        let (entry, text) = (named(entry)?, named(format!("{header}\n{body}"))?);
        self.enter()?;
        let (module, _alone) = self.load(&kernel.name, &text)?;
        Ok(Code { sites, ..self.function(module, &kernel.name, &entry, layout, threads)? })
    }

    /// A function of loaded code, for at most `threads` threads per block.
    fn function(&self, module: Module, name: &str, entry: &CStr, layout: LaunchLayout, threads: u32) -> Result<Code> {
        let what = format!("loading kernel `{name}`");
        let function = self.check(&what, module.function(entry))?;
        let most_threads = self.check(&what, function.most_threads())?.min(threads);
        // The shared memory that the code declares is taken from what a launch may give without asking (CUDA driver
        // API, `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`).
        let own = layout.shared_bytes - layout.shared_bytes_at_launch;
        let allowed_shared = Mutex::new(self.physical.shared_without_asking.saturating_sub(own));
        Ok(Code { layout, sites: Vec::new(), function, most_threads, allowed_shared, occupancy: Mutex::default() })
    }

    /// Assembles and loads PTX, or loads its machine code from the cache. The guard that is returned with the module,
    /// if nothing is in flight, keeps launches from beginning until it is dropped.
    ///
    /// The driver may block a thread that loads a module until all that runs has ended, and others that call it then
    /// too (CUDA C++ Programming Guide, "Lazy Loading: Concurrent Execution"). So it is loaded when nothing is in
    /// flight, if there is such a moment soon; a launch that waits for this very kernel is not waited for for ever.
    fn load(&self, name: &str, text: &CString) -> Result<(Module, Option<RwLockWriteGuard<'_, ()>>)> {
        static FOLDER: OnceLock<Option<CacheFolder>> = OnceLock::new();
        let folder = FOLDER.get_or_init(|| CacheFolder::of_user("cuda")).as_ref();
        let file = self.file_name(text.as_bytes());
        if let Some(saved) = folder.and_then(|folder| folder.load(&file))
            && let Some(cubin) = whose(&saved, text.as_bytes())
        {
            let alone = self.await_alone();
            // Machine code that the driver refuses is made anew.
            if let Ok(module) = Module::load(cubin) {
                return Ok((module, alone));
            }
        }
        let label = CString::new(name).unwrap_or_default();
        let cubin = match link(&label, text) {
            Err((refusal, log)) if !log.is_empty() && !refusal.ends_context() => {
                let what = format!("assembling kernel `{name}` for device `{}`: {refusal}", self.name());
                return Err(system(what, log));
            }
            linked => self.check(&format!("assembling kernel `{name}`"), linked.map_err(|(refusal, _)| refusal))?,
        };
        // The driver's compiler has been loaded, and may have registered more functions for the end of the process.
        exit::before_the_driver();
        let alone = self.await_alone();
        let module = self.check(&format!("loading kernel `{name}`"), Module::load(&cubin))?;
        if let Some(folder) = folder {
            folder.save(&file, &with_text(&cubin, text.as_bytes()));
        }
        Ok((module, alone))
    }

    /// The name of the cache file for the code that this driver makes of a PTX text for this device.
    fn file_name(&self, text: &[u8]) -> String {
        let capability = self.physical.capability;
        format!("sm_{capability}-{}-{:016x}.cubin", self.physical.driver, hash(text))
    }

    #[cold]
    fn lacks(&self, lacking: &Lacking) -> Error {
        cannot(self.name(), format!("run this kernel: {lacking}"), lacking.instead())
    }

    /// Fails if a kernel's shared arrays need more memory than a block has.
    fn has_shared(&self, kernel: &wattle_ir::Kernel, shared_len: u32) -> Result<()> {
        let (asked, available) = (kernel.shared_bytes(shared_len), self.physical.properties.max_shared_memory);
        if asked <= available {
            return Ok(());
        }
        Err(too_much_shared(kernel, asked, available))
    }

    /// The bytes of shared memory that a launch gives, once the kernel is allowed to have them.
    ///
    /// # Errors
    /// The launch needs more shared memory than there is.
    pub(crate) fn shared_bytes(&self, built: &Built, code: &Code, shared_len: u32) -> Result<u32> {
        let layout = &code.layout;
        let at_launch = layout.launch_sized_element.map_or(0, u64::from) * u64::from(shared_len);
        let asked = u64::from(layout.shared_bytes) + at_launch;
        let available = self.physical.properties.max_shared_memory;
        if asked > available {
            return Err(too_much_shared(&built.kernel, asked, available));
        }
        // Not more than `asked`, which is less than the device has.
        let bytes = layout.shared_bytes_at_launch + at_launch as u32;
        let mut allowed = lock(&code.allowed_shared);
        if bytes > *allowed {
            self.enter()?;
            let what = format!("asking for {bytes} bytes of shared memory for kernel `{}`", built.kernel.name);
            self.check(&what, code.function.allow_shared(bytes))?;
            *allowed = bytes;
        }
        Ok(bytes)
    }

    /// How many blocks of a launch the device runs at the same time.
    pub(crate) fn blocks_at_once(&self, code: &Code, threads: u32, shared_bytes: u32) -> Result<u32> {
        let mut known = lock(&code.occupancy);
        let per_multiprocessor = match known.get(&(threads, shared_bytes)) {
            Some(&blocks) => blocks,
            None => {
                self.enter()?;
                let blocks = code.function.blocks_per_multiprocessor(threads, shared_bytes);
                let blocks = self.check("asking how many blocks run at once", blocks)?;
                known.insert((threads, shared_bytes), blocks);
                blocks
            }
        };
        Ok(per_multiprocessor.saturating_mul(self.physical.multiprocessors))
    }
}

#[cold]
fn too_much_shared(kernel: &wattle_ir::Kernel, asked: u64, available: u64) -> Error {
    let nowhere = format_index(&[0; MAX_RANK][..kernel.rank]);
    ErrorKind::Fault(Box::new(Fault {
        kernel: kernel.name.clone(),
        block: nowhere.clone(),
        thread: nowhere,
        site: kernel.shared.first().map_or(kernel.site, |array| array.site),
        what: FaultKind::SharedMemory { asked, available },
    }))
    .into()
}

/// The FNV-1a hash of a text, of 64 bits; texts with the same hash are distinguished by comparison.
fn hash(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The contents of a cache file: the length of the text, the text, the code.
fn with_text(cubin: &[u8], text: &[u8]) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text, cubin].concat()
}

/// The code in a cache file's contents; `None` if it was made of another text.
fn whose<'d>(data: &'d [u8], text: &[u8]) -> Option<&'d [u8]> {
    let (len, rest) = data.split_first_chunk::<8>()?;
    let (there, cubin) = rest.split_at_checked(u64::from_le_bytes(*len).try_into().ok()?)?;
    (there == text && !cubin.is_empty()).then_some(cubin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_to_its_text() {
        let data = with_text(b"code", b"text");
        assert_eq!(whose(&data, b"text"), Some(&b"code"[..]));
        assert_eq!(whose(&data, b"tex"), None);
        assert_eq!(whose(&data, b"texts"), None);
        assert_eq!(whose(&data[..12], b"text"), None, "there is no code");
        assert_eq!(whose(&data[..11], b"text"), None);
        assert_eq!(whose(&data[..7], b"text"), None);
        assert_eq!(whose(&[0xff; 16], b"text"), None);
    }
}
