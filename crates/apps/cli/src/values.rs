//! The values of options: what is written on the command line, as what it means. The error says what to write.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;
use std::time::Duration;

use wattle_ptx::CAPABILITIES;

/// The versions of PTX that there are, from the first with the memory model: of each the last minor one (PTX ISA,
/// "Release Notes").
const PTX_VERSIONS: [(u32, u32); 4] = [(6, 5), (7, 8), (8, 8), (9, 4)];

/// A compute capability: sm_90.
pub fn arch(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix("sm_").and_then(|number| number.parse().ok());
    number.filter(|sm| CAPABILITIES.contains(sm)).ok_or_else(|| {
        let known: Vec<_> = CAPABILITIES.iter().map(|sm| format!("sm_{sm}")).collect();
        format!("there are {}", known.join(", "))
    })
}

/// A version of PTX: 8.6.
pub fn ptx_version(text: &str) -> Result<(u32, u32), String> {
    let version = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    let is_known =
        |(major, minor): &(u32, u32)| PTX_VERSIONS.iter().any(|(known, last)| known == major && minor <= last);
    version.filter(is_known).ok_or_else(|| "write 8.6, or another version from 6.0 to 9.4".to_owned())
}

/// A number of seconds: 10, 0.5 or 10s.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.trim_end_matches('s').parse().map_err(|_| "it is not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "write a number of seconds from 0 on".to_owned())
}

/// A whole number; `write` says what to write where it is none.
fn whole<T: FromStr<Err = ParseIntError>>(text: &str, write: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => TOO_LARGE.to_owned(),
        _ => write.to_owned(),
    })
}

/// A whole number that is not zero.
fn positive(text: &str, write: &str) -> Result<u64, String> {
    whole(text, write).and_then(|number| if number > 0 { Ok(number) } else { Err(write.to_owned()) })
}

/// A number of executions, 1 or more.
pub fn executions(text: &str) -> Result<u64, String> {
    positive(text, "write a number of executions, 1 or more")
}

/// How often something is run, 1 or more.
pub fn runs(text: &str) -> Result<u64, String> {
    positive(text, "write a number of runs, 1 or more")
}

/// A seed: any whole number of 64 bits.
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, "a seed is a whole number from 0 to 2^64 - 1")
}

/// A number of iterations of a loop.
pub fn iterations(text: &str) -> Result<u32, String> {
    whole(text, "write a number of iterations, 0 or more")
}

/// A number of bytes: 1000, 64K, 512M or 2G.
pub fn bytes(text: &str) -> Result<u64, String> {
    let units = [('K', 1u64 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let unit = units.iter().find_map(|&(letter, factor)| Some((text.strip_suffix(letter)?, factor)));
    let (number, factor) = unit.unwrap_or((text, 1));
    let number: u64 = whole(number, "write bytes, or a number with K, M or G")?;
    number.checked_mul(factor).ok_or_else(|| TOO_LARGE.to_owned())
}

/// The error of a number beyond those that its option takes.
const TOO_LARGE: &str = "it is too large";

/// The greatest size that is taken: no machine has memory for more, and scenarios multiply their sizes.
const MOST_SIZE: usize = 1 << 60;

/// A size: 1000, 1_000 or 2^24.
pub fn size(text: &str) -> Result<usize, String> {
    let number = |text: &str| whole::<usize>(&text.replace('_', ""), "write a whole number: 1000, 1_000 or 2^24");
    let size = match text.split_once('^') {
        None => number(text)?,
        Some((base, exponent)) => {
            let (base, exponent) = (number(base)?, number(exponent)?);
            let power = u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent));
            power.ok_or(TOO_LARGE)?
        }
    };
    match size {
        0 => Err("a size is at least 1".to_owned()),
        1..=MOST_SIZE => Ok(size),
        _ => Err(format!("a size is at most {MOST_SIZE}, 2^60")),
    }
}

#[cfg(test)]
mod tests {
    use super::{TOO_LARGE, bytes, iterations, runs, size};

    #[test]
    fn what_is_no_number_is_said_apart_from_what_is_too_large() {
        let too_large = || Some(TOO_LARGE.to_owned());
        let size = |text| size(text).err();
        assert_eq!([size("99999999999999999999"), size("2^64"), size("2^99999999999")], [(); 3].map(|()| too_large()));
        assert!([size("abc^2"), size("^2"), size("x")].into_iter().flatten().all(|text| text.starts_with("write")));
        assert_eq!(iterations("99999999999").err(), too_large());
        assert_eq!(runs("99999999999999999999").err(), too_large());
        assert_eq!(bytes("99999999999999999999999").err(), too_large());
        assert!(runs("0").is_err() && runs("x").is_err() && iterations("-1").is_err() && bytes("1T").is_err());
    }

    #[test]
    fn sizes() {
        assert_eq!(size("17"), Ok(17));
        assert_eq!(size("1_000"), Ok(1000));
        assert_eq!(size("2^24"), Ok(1 << 24));
        for wrong in ["", "0", "-1", "2^", "^2", "2^64", "2^99999999999", "0^3", "1e3", "99999999999999999999"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
