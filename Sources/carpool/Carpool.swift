internal import CarpoolCLI

/// The command `carpool`.
@main
enum Carpool {
    /// Nonisolated, so that the concurrency runtime is not set up: a call takes about a millisecond in all.
    nonisolated static func main() { Program.main() }
}
