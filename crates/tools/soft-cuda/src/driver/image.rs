//! Images that modules are loaded from: PTX text, or this driver's "cubin", which is a header and that text.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use wattle_modules::code::Module as Code;
use wattle_modules::{Refused, RefusedKind, ptx};

use super::config::Config;
use super::status::{Done, Status};

/// The first bytes of a linked image.
const MAGIC: &[u8; 16] = b"\x7fSOFTCUDA-CUBIN\0";

/// Makes a linked image of PTX text for a compute capability.
pub fn linked(text: &str, sm: u32) -> Vec<u8> {
    let mut image = MAGIC.to_vec();
    image.extend_from_slice(&sm.to_le_bytes());
    image.extend_from_slice(&(text.len() as u32).to_le_bytes());
    image.extend_from_slice(text.as_bytes());
    image
}

/// The contents of an image.
pub enum Source {
    /// PTX text, to be compiled now.
    Text(String),
    /// PTX text that was linked, and the compute capability that it was linked for.
    Linked(String, u32),
}

/// Reads an image from memory.
///
/// # Safety
/// `image` is null or a whole image: text up to a zero, or what [`linked`] has made.
///
/// # Errors
/// The image is neither.
pub unsafe fn read(image: *const u8) -> Done<Source> {
    if image.is_null() {
        return Err(Status::ERROR_INVALID_VALUE);
    }
    let mut begins = Vec::new();
    for (at, magic) in MAGIC.iter().enumerate() {
        // SAFETY: the caller vouches for it; nothing is read beyond a zero or a byte that differs from the header's.
        let byte = unsafe { image.add(at).read() };
        if byte == 0 && *magic != 0 {
            break;
        }
        begins.push(byte);
        if begins[0] == MAGIC[0] && byte != *magic {
            return Err(Status::ERROR_INVALID_IMAGE);
        }
    }
    if begins == MAGIC {
        // SAFETY: the caller vouches for it: the header is followed by two numbers and the text.
        let (sm, length) = unsafe {
            let number = |at: usize| u32::from_le_bytes(image.add(at).cast::<[u8; 4]>().read());
            (number(MAGIC.len()), number(MAGIC.len() + 4) as usize)
        };
        // SAFETY: as above.
        let text = unsafe { std::slice::from_raw_parts(image.add(MAGIC.len() + 8), length) };
        let text = std::str::from_utf8(text).map_err(|_| Status::ERROR_INVALID_IMAGE)?;
        return Ok(Source::Linked(text.to_owned(), sm));
    }
    if !begins.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
        return Err(Status::ERROR_INVALID_IMAGE);
    }
    // SAFETY: the caller vouches for it: the text ends with a zero.
    let text = unsafe { std::ffi::CStr::from_ptr(image.cast()) };
    match text.to_str() {
        Ok(text) if text.contains(".version") => Ok(Source::Text(text.to_owned())),
        _ => Err(Status::ERROR_INVALID_IMAGE),
    }
}

/// Compiles PTX text for a compute capability; the error has the log.
///
/// # Errors
/// The text is refused.
pub fn compile(text: &str, sm: u32) -> Result<Code, (Status, String)> {
    compile_at(text, sm, &HashMap::new())
}

/// Compiles PTX text with the addresses of the module's variables; the error has the log.
///
/// # Errors
/// The text is refused.
pub fn compile_at(text: &str, sm: u32, globals: &HashMap<String, u64>) -> Result<Code, (Status, String)> {
    ptx::read("ptx input", text, Config::get().accepts(sm), globals).map_err(|refused| {
        let log = log(&refused);
        eprintln!("soft-cuda: {log}");
        let status = match refused.kind {
            RefusedKind::Text | RefusedKind::Target | RefusedKind::Launch => Status::ERROR_INVALID_PTX,
            RefusedKind::Version => Status::ERROR_UNSUPPORTED_PTX_VERSION,
        };
        (status, log)
    })
}

/// Writes a text to a file in this folder, for other tools to read.
pub fn keep(text: &str, folder: &Path) {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let file = folder.join(format!("{:016x}.ptx", hasher.finish()));
    if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text)) {
        eprintln!("soft-cuda: {} cannot be written: {error}", file.display());
    }
}

/// The log for a refused text, worded as ptxas does.
fn log(refused: &Refused) -> String {
    let Refused { file, line, message, .. } = refused;
    format!(
        "ptxas application {file}, line {line}; error   : {message}\nptxas fatal   : Ptx assembly aborted due to errors"
    )
}
