internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// The arguments of a command for requests by their names.
struct RequestNames: CommandArguments {
    var names: [String] = []
    var isJSON = false
    var socket: String?

    mutating func add(_ name: String) throws(UsageError) {
        guard !name.isEmpty else { throw UsageError("the name of a request is empty") }
        names.append(name)
    }

    private static let ended = "had ended already"

    private static func hasEnded(_ answer: JSON) -> Bool {
        ["finished", "cancelled"].contains(answer["state"]?.string)
    }

    /// Calls a method for each of them, and prints what has changed. A name that is not known does not keep the others
    /// from it; it is the failure at the end.
    func change(_ method: String, done: String, already: String) throws(Failure) -> ExitCode {
        let daemon = try DaemonAccess(socket: socket)
        var failure: Failure?
        for name in names {
            do throws(Failure) {
                let answer = try daemon.call(method) { writer in
                    writer.beginObject()
                    writer.member("request", name)
                    writer.endObject()
                }
                let unchanged = RequestNames.hasEnded(answer) ? RequestNames.ended : already
                let word = answer["changed"]?.bool == true ? done : unchanged
                try Terminal.print("\(PlainText.escaped(name)) \(word)\n")
            } catch {
                guard error.refusal != nil else { throw error }
                Terminal.printError("carpool: \(name): \(error.message ?? "")")
                failure =
                    failure ?? Failure(.refused, "not all requests were found", hint: "carpool ls --all lists them")
            }
        }
        if let failure { throw failure }
        return .success
    }
}
