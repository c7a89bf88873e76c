//! CQL text to syntax trees and back, with source positions. Pure.
