internal import CarpoolCaller
internal import CarpoolJSON

/// All commands, in the order of the help.
enum CommandList {
    static var all: [any Command.Type] {
        var all: [any Command.Type] = []
        visit {
            all.append($0)
            return false
        }
        return all
    }

    /// Calls the closure with each command until it returns true: an array takes longer to create than to search.
    private static func visit(_ body: (any Command.Type) -> Bool) {
        _ =
            body(GetCommand.self) || body(HeadCommand.self) || body(PostCommand.self) || body(PutCommand.self)
            || body(PatchCommand.self) || body(DeleteCommand.self) || body(CurlCommand.self) || body(CacheCommand.self)
            || body(PinsCommand.self) || body(CallCommand.self)
            || body(LsCommand.self) || body(ShowCommand.self) || body(CancelCommand.self) || body(PauseCommand.self)
            || body(ResumeCommand.self) || body(WatchCommand.self) || body(ReachabilityCommand.self)
            || body(WaitOnlineCommand.self)
            || body(DaemonCommand.self) || body(DoctorCommand.self) || body(OpenRPCCommand.self)
            || body(CompletionCommand.self) || body(VersionCommand.self)
            || body(HelpCommand.self)
    }

    /// What to use in place of names that other programs have, or that one may expect.
    private static let others = [
        "auth": "set a credential with: carpool call session.set_credential",
        "config": "see carpool daemon and carpool doctor",
        "cookies": "read and change cookies with: carpool call cookies.list", "download": "use: carpool get -O URL",
        "fetch": "use: carpool get URL", "info": "use: carpool daemon status", "list": "use: carpool ls",
        "options": "use: carpool get -X OPTIONS URL", "ps": "use: carpool ls", "restart": "use: carpool daemon restart",
        "session": "use: carpool call session.list, or a request with --session NAME",
        "sessions": "use: carpool call session.list", "start": "use: carpool daemon start",
        "status": "use: carpool daemon status", "stop": "use: carpool daemon stop",
        "upload": "use: carpool put -T FILE URL",
        "wget": "use: carpool get -O URL",
    ]

    /// Returns the command with a name.
    static func find(_ name: String) throws(UsageError) -> any Command.Type {
        var found: (any Command.Type)?
        visit { command in
            guard command.name == name else { return false }
            found = command
            return true
        }
        if let found { return found }
        if let advice = others[name.lowercased()] { throw UsageError("unknown command \(name); \(advice)") }
        // No name of a command has them.
        let isURL = name.contains { $0 == "." || $0 == "/" || $0 == ":" }
        throw UsageError(
            isURL
                ? "'\(name)' is not a command; to fetch a URL use: carpool get URL"
                : "unknown command \(name)"
                    + NearestName.suggestion(for: name.lowercased(), among: all.map { $0.name }))
    }
}
