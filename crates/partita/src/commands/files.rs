//! Files that commands read and write; `-` is standard input.

use super::Failure;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The text of a file.
pub fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let outcome = if path.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    outcome.map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
    String::from_utf8(bytes).map_err(|_| Failure::Usage(format!("{} is not UTF-8 text", path.display())))
}

/// Writes to the named file, else to standard output.
pub fn write_out(output: &Option<PathBuf>, text: &str) -> Result<(), Failure> {
    match output {
        Some(path) => std::fs::write(path, text)
            .map_err(|e| Failure::Failed(format!("cannot write {}: {e}", path.display()))),
        None => {
            // A closed pipe (`| head`) is the reader's business.
            let _ = std::io::stdout().write_all(text.as_bytes());
            Ok(())
        }
    }
}
