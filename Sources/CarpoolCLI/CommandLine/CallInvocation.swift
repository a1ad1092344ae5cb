internal import CarpoolJSON

/// A call of a method as it was typed.
struct CallInvocation: Equatable {
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

    var method = ""
    var parameters = Parameters.named([])
    var socket: String?

    mutating func apply(operand: String) throws(UsageError) {
        guard !method.isEmpty else {
            method = operand
            return
        }
        guard case .named(let earlier) = parameters else {
            throw UsageError("'-' reads all parameters from standard input; nothing goes beside it", in: .call)
        }
        guard operand != "-" else {
            guard earlier.isEmpty else { throw UsageError("'-' stands for all parameters", in: .call) }
            parameters = .standardInput
            return
        }
        let parameter = try CallInvocation.parameter(operand)
        guard !earlier.contains(where: { $0.name == parameter.name }) else {
            throw UsageError("the parameter \(parameter.name) is there twice", in: .call)
        }
        parameters = .named(earlier + [parameter])
    }

    private static func parameter(_ text: String) throws(UsageError) -> Parameter {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw UsageError("a parameter is NAME=VALUE or NAME:=JSON, not '\(text)'", in: .call)
        }
        let name = text[..<equals]
        let value = text[text.index(after: equals)...]
        guard name.last == ":" else {
            var writer = JSONWriter()
            writer.string(String(value))
            return Parameter(name: String(name), json: writer.bytes)
        }
        do throws(JSONError) {
            // Written anew, because a text on several lines would end the message.
            var writer = JSONWriter()
            writer.value(try JSON.parse(Array(value.utf8)))
            return Parameter(name: String(name.dropLast()), json: writer.bytes)
        } catch {
            throw UsageError("the value of \(name.dropLast()) is not JSON: \(error.message)", in: .call)
        }
    }
}
