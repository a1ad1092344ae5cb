internal import CarpoolCaller

extension Failure {
    init(_ error: UsageError) {
        let help = error.command.map { "carpool help \($0)" } ?? "carpool help"
        self.init(.usage, error.message, hint: "run '\(help)'")
    }
}
