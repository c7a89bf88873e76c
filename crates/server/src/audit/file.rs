//! The files: `audit-000001.jsonl` and so on, each followed by the next when it has grown, the oldest deleted.
//!
//! Only the server's own user may read them. A server that starts goes on in the last file, so that starting often deletes
//! nothing; if it was killed in the middle of a line, that line ends there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub struct Files {
    dir: PathBuf,
    current: BufWriter<File>,
    number: u64,
    bytes: u64,
    bytes_max: u64,
    files_max: usize,
}

impl Files {
    pub fn open(dir: &Path, bytes_max: u64, files_max: usize) -> io::Result<Files> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let number = numbers(dir)?.last().copied().unwrap_or(1);
        let (current, bytes) = append(dir, number)?;
        let files = Files { dir: dir.to_owned(), current, number, bytes, bytes_max, files_max };
        files.delete_oldest()?;
        Ok(files)
    }

    /// Adds a line; it is with the kernel after [`Files::flush`].
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        if self.bytes > 0 && self.bytes + line.len() as u64 >= self.bytes_max {
            self.finish()?;
            (self.current, self.bytes) = append(&self.dir, self.number + 1)?;
            self.number += 1;
            self.delete_oldest()?;
        }
        self.current.write_all(line.as_bytes())?;
        self.current.write_all(b"\n")?;
        self.bytes += line.len() as u64 + 1;
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.current.flush()
    }

    /// To the disk, at the end of a file.
    pub fn finish(&mut self) -> io::Result<()> {
        self.current.flush()?;
        self.current.get_ref().sync_all()
    }

    fn delete_oldest(&self) -> io::Result<()> {
        let numbers = numbers(&self.dir)?;
        let over = numbers.len().saturating_sub(self.files_max.max(1));
        numbers[..over].iter().try_for_each(|number| fs::remove_file(path(&self.dir, *number)))
    }
}

fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("audit-{number:06}.jsonl"))
}

/// The file at its end, behind a whole line, and its length.
fn append(dir: &Path, number: u64) -> io::Result<(BufWriter<File>, u64)> {
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path(dir, number))?;
    let mut bytes = file.metadata()?.len();
    if bytes > 0 {
        let mut last = [0];
        file.read_exact_at(&mut last, bytes - 1)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
            bytes += 1;
        }
    }
    Ok((BufWriter::new(file), bytes))
}

/// Of the files that are there, in order.
fn numbers(dir: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let digits: Option<u64> =
            name.to_str().and_then(|name| name.strip_prefix("audit-")?.strip_suffix(".jsonl")?.parse().ok());
        numbers.extend(digits);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn starting_often_deletes_nothing_and_a_torn_line_ends() {
        let dir = tempfile::tempdir().unwrap();
        for start in 0..20 {
            let mut files = Files::open(dir.path(), 1 << 20, 2).unwrap();
            files.line(&format!("start {start}")).unwrap();
            files.finish().unwrap();
            let mut file = OpenOptions::new().append(true).open(path(dir.path(), 1)).unwrap();
            file.write_all(b"{\"torn").unwrap();
        }
        assert_eq!(numbers(dir.path()).unwrap(), [1]);
        let text = fs::read_to_string(path(dir.path(), 1)).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("start ")).count(), 20);
    }

    #[test]
    fn files_are_rotated_private_and_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("deep/audit");
        for _ in 0..2 {
            let mut files = Files::open(&dir, 100, 3).unwrap();
            for line in 0..20 {
                files.line(&format!("{line:040}")).unwrap();
            }
            files.finish().unwrap();
        }
        let left = numbers(&dir).unwrap();
        assert_eq!(left.len(), 3);
        assert!(left[0] > 10, "{left:?}");
        let text = fs::read_to_string(path(&dir, left[2])).unwrap();
        assert!(text.ends_with(&format!("{:040}\n", 19)) && text.len() <= 100, "{text}");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&path(&dir, left[0]))), (0o700, 0o600));
    }
}
