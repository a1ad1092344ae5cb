internal import CarpoolJSON

/// What a command line asks for.
enum Invocation: Equatable {
    /// What is to be done with the daemon.
    enum DaemonAction: String, CaseIterable {
        case start, stop, status, restart
    }

    case request(RequestInvocation)
    case call(CallInvocation)
    case watch(WatchInvocation)
    case reachability(ReachabilityInvocation)
    case waitOnline(ReachabilityInvocation)
    case daemon(DaemonAction, socket: String?)
    case doctor(socket: String?)
    case openrpc(socket: String?)
    case version
    case help(Command?)

    /// Reads the arguments that follow the program's name.
    static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var scanner = ArgumentScanner(arguments)
        var socket: String?
        while let argument = try scanner.next([.socket, .help, .version], in: nil) {
            switch argument {
            case .option(.socket, let value): socket = try path(value, nil)
            case .option(.version, _): return .version
            case .option: return .help(nil)
            case .operand(let name): return try parse(try command(name), scanner, socket)
            }
        }
        throw UsageError("a command is missing")
    }

    private static func path(_ socket: String, _ command: Command?) throws(UsageError) -> String {
        guard !socket.isEmpty else { throw UsageError("--socket needs a path", in: command) }
        return socket
    }

    private static func command(_ name: String) throws(UsageError) -> Command {
        if let command = Command(rawValue: name) { return command }
        let near = NearestName.find(name, among: Command.allCases.map(\.rawValue))
        throw UsageError("unknown command \(name)" + (near.map { "; did you mean \($0)?" } ?? ""))
    }

    private static func parse(
        _ command: Command, _ scanner: ArgumentScanner, _ socket: String?
    ) throws(UsageError) -> Invocation {
        switch command {
        case .get, .head, .post, .put, .patch, .delete: return try request(command, scanner, socket)
        case .call: return try call(scanner, socket)
        case .watch: return try watch(scanner, socket)
        case .reachability, .waitOnline: return try reachability(command, scanner, socket)
        case .daemon: return try daemon(scanner, socket)
        case .doctor, .openrpc:
            var scanner = scanner
            var socket = socket
            while let argument = try scanner.next(command.options, in: command) {
                switch argument {
                case .option(.help, _): return .help(command)
                case .option(_, let value): socket = try path(value, command)
                case .operand(let word): throw UsageError("\(command.rawValue) takes no '\(word)'", in: command)
                }
            }
            return command == .doctor ? .doctor(socket: socket) : .openrpc(socket: socket)
        case .version: return .version
        case .help: return try help(scanner)
        }
    }

    private static func request(
        _ command: Command, _ scanner: ArgumentScanner, _ socket: String?
    ) throws(UsageError) -> Invocation {
        var scanner = scanner
        var invocation = RequestInvocation(command)
        invocation.socket = socket
        let options = command.options
        while let argument = try scanner.next(options, in: command) {
            switch argument {
            case .option(.help, _): return .help(command)
            case .option(.socket, let value): invocation.socket = try path(value, command)
            case .option(let option, let value): try invocation.apply(option, value)
            case .operand(let word): try invocation.apply(operand: word)
            }
        }
        try invocation.check()
        return .request(invocation)
    }

    private static func call(_ scanner: ArgumentScanner, _ socket: String?) throws(UsageError) -> Invocation {
        var scanner = scanner
        var invocation = CallInvocation()
        invocation.socket = socket
        while let argument = try scanner.next(Command.call.options, in: .call) {
            switch argument {
            case .option(.help, _): return .help(.call)
            case .option(_, let value): invocation.socket = try path(value, .call)
            case .operand(let word): try invocation.apply(operand: word)
            }
        }
        guard !invocation.method.isEmpty else { throw UsageError("call needs the name of a method", in: .call) }
        return .call(invocation)
    }

    private static func watch(_ scanner: ArgumentScanner, _ socket: String?) throws(UsageError) -> Invocation {
        var scanner = scanner
        var invocation = WatchInvocation()
        invocation.socket = socket
        while let argument = try scanner.next(Command.watch.options, in: .watch) {
            switch argument {
            case .option(.help, _): return .help(.watch)
            case .option(.socket, let value): invocation.socket = try path(value, .watch)
            case .option(let option, let value): try invocation.apply(option, value)
            case .operand(let word): invocation.apply(operand: word)
            }
        }
        try invocation.check()
        return .watch(invocation)
    }

    private static func reachability(
        _ command: Command, _ scanner: ArgumentScanner, _ socket: String?
    ) throws(UsageError) -> Invocation {
        var scanner = scanner
        var invocation = ReachabilityInvocation(command)
        invocation.socket = socket
        while let argument = try scanner.next(command.options, in: command) {
            switch argument {
            case .option(.help, _): return .help(command)
            case .option(.socket, let value): invocation.socket = try path(value, command)
            case .option(let option, let value): try invocation.apply(option, value)
            case .operand(let word): try invocation.apply(operand: word)
            }
        }
        try invocation.check()
        return command == .waitOnline ? .waitOnline(invocation) : .reachability(invocation)
    }

    private static func daemon(_ scanner: ArgumentScanner, _ socket: String?) throws(UsageError) -> Invocation {
        var scanner = scanner
        var socket = socket
        var action: DaemonAction?
        while let argument = try scanner.next(Command.daemon.options, in: .daemon) {
            switch argument {
            case .option(.help, _): return .help(.daemon)
            case .option(_, let value): socket = try path(value, .daemon)
            case .operand(let word):
                guard action == nil, let known = DaemonAction(rawValue: word) else {
                    throw UsageError("daemon takes one of start, stop, status, restart, not '\(word)'", in: .daemon)
                }
                action = known
            }
        }
        guard let action else { throw UsageError("daemon needs start, stop, status or restart", in: .daemon) }
        return .daemon(action, socket: socket)
    }

    private static func help(_ scanner: ArgumentScanner) throws(UsageError) -> Invocation {
        var scanner = scanner
        while let argument = try scanner.next([.help], in: .help) {
            guard case .operand(let name) = argument else { continue }
            return .help(try command(name))
        }
        return .help(nil)
    }
}
