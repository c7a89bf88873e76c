//! Folders that stand for buckets.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Files of one bucket that are looked at for one import.
const FILES_MAX: usize = 100_000;
const DEPTH_MAX: usize = 32;

pub struct Folders(pub Vec<(String, PathBuf)>);

impl Folders {
    /// A file within a bucket; a path that leads out of it is refused.
    fn path(&self, bucket: &str, path: &str) -> io::Result<PathBuf> {
        let folder = self.0.iter().find(|(name, _)| name == bucket).map(|(_, folder)| folder);
        let folder = folder.ok_or_else(|| io::Error::other("no such bucket"))?;
        let inside = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
        if !path.is_empty() && !path.split('/').all(inside) {
            return Err(io::Error::other("the path leads out of the bucket"));
        }
        Ok(folder.join(path))
    }
}

impl dynamo::run::Buckets for Folders {
    fn exists(&self, bucket: &str) -> bool {
        self.0.iter().any(|(name, _)| name == bucket)
    }

    fn append(&self, bucket: &str, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(bucket, path)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn list(&self, bucket: &str, prefix: &str) -> io::Result<Vec<String>> {
        let root = self.path(bucket, "")?;
        let mut found = Vec::new();
        walk(&root, &root, 0, &mut found)?;
        found.retain(|path| path.starts_with(prefix));
        found.sort();
        Ok(found)
    }

    fn open(&self, bucket: &str, path: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(self.path(bucket, path)?)?))
    }
}

/// Plain files only: a link could lead out of the bucket.
fn walk(root: &Path, folder: &Path, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    if depth > DEPTH_MAX || found.len() > FILES_MAX {
        return Err(io::Error::other("the bucket has too many files or folders"));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(root, &entry.path(), depth + 1, found)?;
        } else if kind.is_file()
            && let Ok(inside) = entry.path().strip_prefix(root)
            && let Some(name) = inside.to_str()
        {
            found.push(name.to_string());
        }
    }
    Ok(())
}
