internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// Which parameter sets which option. Parameters that need decoding are in ``RequestParametersDecoder``.
extension TransferOptions {
    /// Visits each setting with its parameter. Order is that of `session.get`.
    private mutating func visitScalars(_ visitor: inout some SettingVisitor & ~Copyable) {
        visitor.visit(.setup, &setup)
        visitor.visit(.timeout, &idleTimeoutMilliseconds)
        visitor.visit(.resourceTimeout, &resourceTimeoutMilliseconds)
        visitor.visit(.connectTimeout, &connectTimeoutMilliseconds)
        visitor.visit(.waitsForConnectivity, &waitsForConnectivity)
        visitor.visit(.httpVersion, &httpVersion)
        visitor.visit(.urlEncoding, &urlEncoding)
        visitor.visit(.decode, &decodesContent, keepsFiles: &keepsFiles)
        visitor.visit(.maximumRatio, &maximumDecodingRatio)
        visitor.visit(.maximumBodyBytes, &maximumBodyBytes)
        visitor.visit(.connectionsPerHost, &connectionsPerHost)
    }

    /// Sets the parameters that a request or a session has.
    mutating func readScalars(_ source: some ParameterSource) {
        var reader = SettingReader(source: source)
        visitScalars(&reader)
    }

    /// Writes the values in force as members of an object.
    func writeScalars(to writer: inout JSONWriter) {
        var options = self
        var visitor = SettingWriter(writer: writer)
        options.visitScalars(&visitor)
        writer = visitor.writer
    }
}

private protocol SettingVisitor: ~Copyable {
    mutating func visit(_ parameter: Parameter<Int>, _ setting: inout Setting<Int>)
    mutating func visit(_ parameter: Parameter<Int>, _ setting: inout Setting<Int?>)
    mutating func visit(_ parameter: Parameter<Bool>, _ setting: inout Setting<Bool>)
    mutating func visit(_ parameter: Parameter<JSON>, _ decodes: inout Setting<Bool>, keepsFiles: inout Setting<Bool>)
    mutating func visit<Value: RawRepresentable<String>>(
        _ parameter: Parameter<String>, _ setting: inout Setting<Value>)
}

private struct SettingReader<Source: ParameterSource>: SettingVisitor {
    let source: Source

    func visit(_ parameter: Parameter<Int>, _ setting: inout Setting<Int>) { setting.set(source[parameter]) }

    func visit(_ parameter: Parameter<Int>, _ setting: inout Setting<Int?>) {
        if let number = source[parameter] { setting.set(number) }
    }

    func visit(_ parameter: Parameter<Bool>, _ setting: inout Setting<Bool>) { setting.set(source[parameter]) }

    func visit(_ parameter: Parameter<JSON>, _ decodes: inout Setting<Bool>, keepsFiles: inout Setting<Bool>) {
        guard let value = source[parameter] else { return }
        decodes.set(value.bool ?? true)
        keepsFiles.set(value.bool == nil)
    }

    func visit<Value: RawRepresentable<String>>(_ parameter: Parameter<String>, _ setting: inout Setting<Value>) {
        if let text = source[parameter] { setting.set(Value(rawValue: text)) }
    }
}

private struct SettingWriter: SettingVisitor, ~Copyable {
    var writer: JSONWriter

    mutating func visit(_ parameter: Parameter<Int>, _ setting: inout Setting<Int>) {
        // No limit is no member.
        if setting.value < .max { writer.member(parameter.name, setting.value) }
    }

    mutating func visit(_ parameter: Parameter<Int>, _ setting: inout Setting<Int?>) {
        if let number = setting.value { writer.member(parameter.name, number) }
    }

    mutating func visit(_ parameter: Parameter<Bool>, _ setting: inout Setting<Bool>) {
        writer.member(parameter.name, setting.value)
    }

    mutating func visit(
        _ parameter: Parameter<JSON>, _ decodes: inout Setting<Bool>, keepsFiles: inout Setting<Bool>
    ) {
        if keepsFiles.value {
            writer.member(parameter.name, static: AnyParameter.decodeUnlessFile)
        } else {
            writer.member(parameter.name, decodes.value)
        }
    }

    mutating func visit<Value: RawRepresentable<String>>(
        _ parameter: Parameter<String>, _ setting: inout Setting<Value>
    ) {
        writer.member(parameter.name, setting.value.rawValue)
    }
}
