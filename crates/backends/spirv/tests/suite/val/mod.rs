//! spirv-val, where it is installed.

use std::path::PathBuf;
use std::process::Command;

/// Collects modules and validates them: one file each, many to a call.
pub struct Validator {
    folder: PathBuf,
    modules: Vec<String>,
    there: bool,
}

impl Validator {
    pub fn new() -> Validator {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("wattle-spirv-{}-{number}", std::process::id()));
        let there = Command::new("spirv-val").arg("--version").output().is_ok();
        if there {
            std::fs::create_dir_all(&folder).expect("a folder for modules");
        } else {
            test_skips::skipped("spirv-val is not installed (Debian: spirv-tools)");
        }
        Validator { folder, modules: Vec::new(), there }
    }

    pub fn check(&mut self, name: &str, words: &[u32]) {
        if !self.there {
            return;
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        std::fs::write(self.folder.join(format!("{}.spv", self.modules.len())), bytes).expect("a module's file");
        self.modules.push(name.to_owned());
    }

    pub fn done(self) {
        let mut bad = Vec::new();
        for (number, name) in self.modules.iter().enumerate() {
            let file = self.folder.join(format!("{number}.spv"));
            let said = Command::new("spirv-val").args(["--target-env", "vulkan1.3"]).arg(&file).output();
            let said = said.expect("spirv-val runs");
            if !said.status.success() {
                bad.push(format!(
                    "{name}: {}{}",
                    String::from_utf8_lossy(&said.stdout),
                    String::from_utf8_lossy(&said.stderr)
                ));
            }
        }
        if self.there {
            println!("spirv-val: {} modules", self.modules.len());
        }
        assert!(bad.is_empty(), "spirv-val refuses {} of {}; the first: {}", bad.len(), self.modules.len(), bad[0]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
