internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// `carpool call`: any method, its result on one line.
struct CallCommand {
    private let call: CallInvocation

    /// The most that is read from standard input: larger messages are refused by the daemon.
    private static let inputBytes = 1_048_576

    init(_ call: CallInvocation) { self.call = call }

    func run() throws(Failure) -> ExitCode {
        let params = try params()
        try CallCommand.print(try DaemonAccess(socket: call.socket).call(call.method) { $0.raw(params) })
        return .success
    }

    /// Prints a value on a line.
    static func print(_ value: JSON) throws(Failure) {
        var writer = JSONWriter()
        writer.value(value)
        writer.append(verbatim: [UInt8(ascii: "\n")])
        try Terminal.print(Terminal.json(writer.bytes))
    }

    private func params() throws(Failure) -> [UInt8] {
        var writer = JSONWriter()
        switch call.parameters {
        case .standardInput:
            let input = try CallCommand.readInput()
            do throws(JSONError) {
                // Parsed here and written anew, because a text on several lines would end the message.
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
                throw Failure(.usage, "standard input has more than \(inputBytes) bytes, too many for a message")
            }
        }
    }
}
