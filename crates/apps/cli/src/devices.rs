//! `wattle devices`: the devices that are there, and why others are not.

use wattle::{Device, Missing};

use crate::exit::{Exit, Input, Stop};
use crate::report;
use crate::session::Session;
use crate::text::{self, Tone};

const NAME: usize = 14;

/// Shows the devices there are, and why others are not.
pub fn devices(session: &mut Session) -> Result<Exit, Stop> {
    let (devices, missing) = session.limits.within(Device::survey).map_err(Input::from)?;
    if session.json {
        session.report("devices", Exit::Holds, &report::Devices::new(&devices, &missing))?;
        return Ok(Exit::Holds);
    }
    for device in &devices {
        let properties = device.properties();
        let name = session.style.paint(Tone::Strong, &text::pad(device.name(), NAME));
        session.line(format!("{name}{}", properties.description))?;
        let scopes: Vec<_> = properties.scopes.iter().map(ToString::to_string).collect();
        let rows = [
            ("at once", text::plural(properties.workers.into(), "block")),
            ("memory", if properties.memory == 0 { "not known".into() } else { text::bytes(properties.memory) }),
            ("lock step", text::plural(properties.warp_width.into(), "thread")),
            ("a block has", format!("at most {}", text::plural(properties.max_threads_per_block.into(), "thread"))),
            ("", format!("at most {} of shared memory", text::bytes(properties.max_shared_memory))),
            ("cooperative", cooperative(properties.max_cooperative_blocks)),
            ("scopes", scopes.join(", ")),
        ];
        let domains = (properties.sync_domains > 1)
            .then(|| ("domains", format!("{} for memory synchronization", properties.sync_domains)));
        let floats = (!properties.exact_floats)
            .then(|| ("floats", "not promised to be rounded to nearest: functions may have other bits".to_owned()));
        for (what, value) in rows.into_iter().chain(domains).chain(floats) {
            let what = session.style.paint(Tone::Faint, &text::pad(what, 12));
            session.line(format!("{}{what}  {value}", " ".repeat(NAME)))?;
        }
        session.line("")?;
    }
    not_here(session, &missing)?;
    Ok(Exit::Holds)
}

fn cooperative(blocks: u32) -> String {
    match blocks {
        0 => "no launches".to_owned(),
        u32::MAX => "launches of any number of blocks".to_owned(),
        blocks => format!("launches of at most {}", text::plural(blocks.into(), "block")),
    }
}

/// Says which devices are not there, and why.
pub fn not_here(session: &mut Session, missing: &[Missing]) -> Result<(), Stop> {
    for (number, missing) in missing.iter().enumerate() {
        let head = if number == 0 { "not here" } else { "" };
        let head = session.style.paint(Tone::Faint, &text::pad(head, NAME));
        for (number, line) in text::wrap(&missing.reason, text::WIDTH - NAME - 12).iter().enumerate() {
            let name = if number == 0 { missing.name } else { "" };
            let head = if number == 0 { head.clone() } else { " ".repeat(NAME) };
            session.line(format!("{head}{}{line}", text::pad(name, 12)))?;
        }
    }
    Ok(())
}
