internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem
internal import Glibc

/// `carpool call`: calls any method and prints its result on one line.
enum CallCommand: Command {
    static let name = "call"
    static let synopsis = "[OPTIONS] METHOD [NAME=VALUE | NAME:=JSON]... | METHOD -"
    static let summary = "call a method of the daemon and print its result"
    static let details = """
        NAME=VALUE is a parameter with a string, NAME:=JSON one with any JSON value; '-' reads all parameters
        from standard input as a JSON object. The result is printed as one line of JSON. 'carpool openrpc'
        prints the description of the methods.
        """

    static var examples: [String] {
        [
            "carpool call daemon.info", "carpool call request.perform url=https://example.com/ timeout_ms:=2500",
            "echo '{\"url\": \"https://example.com/\"}' | carpool call request.perform -",
        ]
    }

    static var options: [Option<Arguments>] { [.socket, .help] }

    static var operandWords: [String] { Catalogue.carpool.methods.map(\.name) }

    /// The arguments of a call.
    struct Arguments: CommandArguments {
        var method = ""
        var parameters = Parameters.named([])
        var socket: String?
    }

    /// The parameters.
    enum Parameters: Equatable {
        /// Names, and values that are JSON texts.
        case named([Parameter])
        /// A JSON object on standard input.
        case standardInput
    }

    /// One parameter.
    struct Parameter: Equatable {
        let name: String
        let json: [UInt8]
    }

    static var arguments: Arguments { Arguments() }

    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError) {
        guard !arguments.method.isEmpty else {
            arguments.method = operand
            return
        }
        guard case .named(let earlier) = arguments.parameters else {
            throw UsageError("'-' (all parameters from standard input) cannot be combined with NAME=VALUE")
        }
        guard operand != "-" else {
            guard earlier.isEmpty else {
                throw UsageError("'-' (all parameters from standard input) cannot be combined with NAME=VALUE")
            }
            arguments.parameters = .standardInput
            return
        }
        let parameter = try parameter(operand)
        guard !earlier.contains(where: { $0.name == parameter.name }) else {
            throw UsageError("the parameter \(parameter.name) is given twice")
        }
        arguments.parameters = .named(earlier + [parameter])
    }

    private static func parameter(_ text: String) throws(UsageError) -> Parameter {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw UsageError("a parameter is NAME=VALUE or NAME:=JSON, not '\(text)'")
        }
        let name = text[..<equals]
        let value = text[text.index(after: equals)...]
        guard name.last == ":" else {
            var writer = JSONWriter()
            writer.string(String(value))
            return Parameter(name: String(name), json: writer.bytes)
        }
        do throws(JSONError) {
            // Parsed and written again: a text on several lines would end the message.
            var writer = JSONWriter()
            writer.value(try JSON.parse(Array(value.utf8)))
            return Parameter(name: String(name.dropLast()), json: writer.bytes)
        } catch {
            throw UsageError("the value of \(name.dropLast()) is not JSON: \(error.message)")
        }
    }

    static func validate(_ arguments: Arguments) throws(UsageError) {
        guard !arguments.method.isEmpty else { throw UsageError("call needs the name of a method") }
    }

    static func run(_ call: Arguments) throws(Failure) -> ExitCode {
        let params = try params(call)
        try Terminal.printLine(try DaemonAccess(socket: call.socket).call(call.method) { $0.raw(params) })
        return .success
    }

    /// The maximum size of standard input: the daemon refuses larger messages.
    private static let inputBytes = 1_048_576

    private static func params(_ call: Arguments) throws(Failure) -> [UInt8] {
        var writer = JSONWriter()
        switch call.parameters {
        case .standardInput:
            let input = try readInput()
            do throws(JSONError) {
                // Parsed and written again: a text on several lines would end the message.
                writer.value(try JSON.parse(input))
            } catch {
                throw Failure(.usage, "standard input is not JSON: \(error.message)")
            }
        case .named(let parameters):
            writer.beginObject()
            for parameter in parameters {
                writer.key(parameter.name)
                writer.raw(parameter.json)
            }
            writer.endObject()
        }
        return writer.bytes
    }

    private static func readInput() throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            switch buffer.withUnsafeMutableBytes({ Bytes.read(STDIN_FILENO, into: $0) }) {
            case .bytes(let count): bytes += buffer[..<count]
            case .endOfFile: return bytes
            case .wouldBlock: _ = MonotonicTime(nanoseconds: .max).waitForInput(STDIN_FILENO)
            case .failed(let code):
                throw Failure(.usage, "cannot read standard input: \(SystemError.reason(of: code))")
            }
            guard bytes.count <= inputBytes else {
                throw Failure(.usage, "standard input has more than \(inputBytes) bytes, the largest possible message")
            }
        }
    }
}
