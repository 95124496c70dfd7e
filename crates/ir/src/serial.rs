//! Kernels in files: what serde's derives cannot do alone.
//!
//! A source line is one text, `file:line:column`. Names and files are `'static`, so those that are read from a file are
//! kept for good, each once.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Site;
use crate::names::intern;

/// Deserializes a name, which is interned.
pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    String::deserialize(deserializer).map(intern)
}

/// Reads a name that may be missing.
pub(crate) fn optional_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'static str>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(intern))
}

impl Serialize for Site {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Site {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Site, D::Error> {
        let text = String::deserialize(deserializer)?;
        let site = || {
            let mut parts = text.rsplitn(3, ':');
            let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
            Some(Site { line: line.parse().ok()?, column: column.parse().ok()?, file: intern(file.to_owned()) })
        };
        site().ok_or_else(|| D::Error::custom(format!("`{text}` is no `file:line:column`")))
    }
}
