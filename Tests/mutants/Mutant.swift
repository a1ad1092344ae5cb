import Glibc

/// The number of the mutant that is active in this process; 0 for none.
private let active = getenv("CARPOOL_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

/// Whether a mutant is active.
///
/// `Tests/mutants/run` adds this file to each module that has mutants, in a copy of the sources.
@inline(never) func mutant(_ number: Int) -> Bool { number == active }
