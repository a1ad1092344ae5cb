import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolSession
import Testing

/// A request that has its response, for validators and serializers.
struct Answered {
    let stage: Stage
    let request: Request

    init(
        _ status: Int = 200, _ fields: [(String, String)] = [], body: [UInt8] = [], method: String = "GET",
        accept: [String] = [], memoryLimit: Int = 45_056
    ) throws {
        stage = try Stage()
        let sent = try #require(HTTPMethod(method))
        let accepted = try accept.map { try HTTPField(name: "Accept", value: $0) }
        request = stage.send {
            $0.method = sent
            $0.fields = accepted
            $0.memoryLimitBytes = memoryLimit
        }
        stage.transport.receive(status, fields)
        if !body.isEmpty { stage.transport.receive(body) }
        stage.transport.complete()
    }

    init(text: String, type: String = "text/plain") throws {
        try self.init(200, [("Content-Type", type)], body: Array(text.utf8))
    }

    /// The result of a validator, which must answer at once and only once.
    func judge(_ validator: any ResponseValidator) throws -> SessionError? {
        var answers: [SessionError?] = []
        validator.validate(request) { answers.append($0) }
        #expect(answers.count == 1)
        return try #require(answers.first)
    }

    /// The value of a serializer, which must answer at once and only once.
    func value(_ serializer: any ResponseSerializer) throws -> SerializedValue {
        var answers: [Result<SerializedValue, SessionError>] = []
        serializer.serialize(request) { answers.append($0) }
        #expect(answers.count == 1)
        return try #require(answers.first).get()
    }

    /// The failure of a serializer.
    func failure(_ serializer: any ResponseSerializer) throws -> SessionError {
        try #require(throws: SessionError.self) { try value(serializer) }
    }
}

extension SessionError {
    func text(_ name: String) -> String? {
        if case .string(let text) = details.first(where: { $0.name == name })?.value { text } else { nil }
    }

    func number(_ name: String) -> Int? {
        if case .integer(let number) = details.first(where: { $0.name == name })?.value { number } else { nil }
    }

    func texts(_ name: String) -> [String]? {
        if case .strings(let texts) = details.first(where: { $0.name == name })?.value { texts } else { nil }
    }
}

extension SerializedValue {
    var isNone: Bool { if case .none = self { true } else { false } }
    var bytes: [UInt8]? { if case .data(let bytes) = self { bytes } else { nil } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var json: JSON? { if case .json(let json) = self { json } else { nil } }
    var structured: StructuredValue? { if case .structured(let value) = self { value } else { nil } }
}
