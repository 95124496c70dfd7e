//! The text of a module, with the names and lines of the source.

use rspirv::binary::Disassemble;
use rspirv::dr::{Module, Operand, load_words};
use rspirv::spirv::{Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wattle_ir::plain_name;

/// The module as text: one instruction a line, values by their names in the source where they have one, and a comment
/// where another source line begins.
///
/// # Errors
/// The words are no module.
pub fn disassemble(words: &[u32]) -> Result<String, String> {
    let module = load_words(words).map_err(|error| error.to_string())?;
    let names = names(&module);
    let files = files(&module);
    let mut text = String::new();
    let mut last = None;
    for line in module.disassemble().lines() {
        if let Some(place) = line.trim_start().strip_prefix("OpLine ") {
            let mut parts = place.split_whitespace();
            let file = parts.next().and_then(|id| id.trim_start_matches('%').parse().ok());
            let place = (file, parts.next().unwrap_or_default().to_owned());
            if last.as_ref() != Some(&place) {
                let file = place.0.and_then(|id: Word| files.get(&id)).map_or("", String::as_str);
                text += &format!("; {file}:{}\n", place.1);
                last = Some(place);
            }
            continue;
        }
        // Names are printed where they are used.
        if !line.starts_with("OpName ") && !line.contains("= OpString ") {
            text += &renamed(&line.replace("  ", " "), &names);
            text.push('\n');
        }
    }
    Ok(text)
}

/// A name for each value that has one, all different.
fn names(module: &Module) -> FxHashMap<Word, String> {
    let mut names = FxHashMap::default();
    let mut taken = FxHashSet::default();
    for instruction in module.debug_names.iter().filter(|instruction| instruction.class.opcode == Op::Name) {
        let [Operand::IdRef(id), Operand::LiteralString(name)] = instruction.operands.as_slice() else { continue };
        let plain = plain_name(name);
        let name = if plain.is_empty() || taken.contains(&plain) { format!("{plain}_{id}") } else { plain };
        taken.insert(name.clone());
        names.insert(*id, name);
    }
    for (id, name) in types_and_constants(module) {
        if taken.insert(name.clone()) {
            names.entry(id).or_insert(name);
        }
    }
    names
}

/// Names that describe simple types and constants.
fn types_and_constants(module: &Module) -> Vec<(Word, String)> {
    let mut types: FxHashMap<Word, String> = FxHashMap::default();
    let mut names = Vec::new();
    for instruction in &module.types_global_values {
        let Some(id) = instruction.result_id else { continue };
        let of = instruction.result_type.and_then(|ty| types.get(&ty)).cloned().unwrap_or_default();
        let name: String = match (instruction.class.opcode, instruction.operands.as_slice()) {
            (Op::TypeVoid, _) => "void".into(),
            (Op::TypeBool, _) => "bool".into(),
            (Op::TypeInt, [Operand::LiteralBit32(width), ..]) => format!("u{width}"),
            (Op::TypeFloat, [Operand::LiteralBit32(width), ..]) => format!("f{width}"),
            (Op::ConstantTrue, _) => "true".into(),
            (Op::ConstantFalse, _) => "false".into(),
            (Op::Constant, [Operand::LiteralBit32(value)]) if of == "f32" => {
                names.push((id, float_name(f32::from_bits(*value).to_string(), &of)));
                continue;
            }
            (Op::Constant, [Operand::LiteralBit32(value)]) => format!("{of}_{value}"),
            (Op::Constant, [Operand::LiteralBit64(value)]) if of == "f64" => {
                names.push((id, float_name(f64::from_bits(*value).to_string(), &of)));
                continue;
            }
            (Op::Constant, [Operand::LiteralBit64(value)]) => format!("{of}_{value}"),
            _ => continue,
        };
        if instruction.result_type.is_none() {
            types.insert(id, name.clone());
        }
        names.push((id, name));
    }
    names
}

fn float_name(value: String, of: &str) -> String {
    format!("{of}_{}", value.replace('.', "p").replace('-', "m"))
}

fn files(module: &Module) -> FxHashMap<Word, String> {
    let strings = module.debug_string_source.iter().filter(|instruction| instruction.class.opcode == Op::String);
    strings
        .filter_map(|instruction| match (instruction.result_id, instruction.operands.as_slice()) {
            (Some(id), [Operand::LiteralString(file)]) => Some((id, file.clone())),
            _ => None,
        })
        .collect()
}

fn renamed(line: &str, names: &FxHashMap<Word, String>) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at(at + 1);
        text += before;
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (id, more) = after.split_at(digits);
        match id.parse().ok().and_then(|id: Word| names.get(&id)) {
            Some(name) => text += name,
            None => text += id,
        }
        rest = more;
    }
    text + rest
}
