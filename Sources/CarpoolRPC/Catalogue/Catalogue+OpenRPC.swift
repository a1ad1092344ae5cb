public import CarpoolJSON

extension Catalogue {
    /// Appends the catalogue as an OpenRPC 1.3.2 document (https://spec.open-rpc.org).
    ///
    /// Members that OpenRPC does not have begin with `x-`: roles, aliases, notifications, callbacks, the table of
    /// errors.
    /// - Parameter version: The version of the daemon.
    public func openRPC(version: String, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("openrpc", static: "1.3.2")
        writer.key("info")
        writer.beginObject()
        writer.member("title", static: "Carpool")
        writer.member("version", version)
        writer.member("description", "One daemon per machine through which every tool shares one HTTP session.")
        writer.endObject()
        write("methods", methods, to: &writer) { $0.write(to: &$1) }
        writeComponents(to: &writer)
        write("x-notifications", notifications, to: &writer) { $0.write(to: &$1) }
        write("x-callbacks", callbacks, to: &writer) { $0.write(to: &$1) }
        write("x-errors", RPCErrorKind.all, to: &writer) { $0.writeDescription(to: &$1) }
        writer.endObject()
    }

    /// The schemas that others refer to by name.
    private func writeComponents(to writer: inout JSONWriter) {
        var named: [String: JSONSchema] = [:]
        for method in methods {
            method.result.collectNamed(into: &named)
            for member in method.params { member.schema.collectNamed(into: &named) }
        }
        for notification in notifications {
            notification.params.collectNamed(into: &named)
            for member in notification.types.flatMap(\.data) { member.schema.collectNamed(into: &named) }
        }
        for callback in callbacks {
            callback.result.collectNamed(into: &named)
            for member in callback.params { member.schema.collectNamed(into: &named) }
        }
        writer.key("components")
        writer.beginObject()
        writer.key("schemas")
        writer.beginObject()
        for (name, schema) in named.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            schema.write(to: &writer)
        }
        writer.endObject()
        writer.endObject()
    }
}

extension Method {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("summary", summary)
        writer.member("description", description)
        writer.member("paramStructure", static: "either")
        CarpoolRPC.write("params", params, to: &writer) { $0.writeDescriptor(to: &$1) }
        writer.key("result")
        writer.beginObject()
        writer.member("name", static: "result")
        writer.key("schema")
        result.write(to: &writer)
        writer.endObject()
        if !errors.isEmpty { CarpoolRPC.write("errors", errors, to: &writer) { $0.write(to: &$1) } }
        CarpoolRPC.write("examples", examples, to: &writer) { $0.write(members: params, to: &$1) }
        writer.member("x-role", role.rawValue)
        if !aliases.isEmpty { writer.member("x-aliases", aliases) }
        writer.member("x-interruptible", isInterruptible)
        writer.endObject()
    }
}

extension JSONSchema.Member {
    fileprivate func writeDescriptor(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name.description)
        writer.member("description", summary)
        writer.member("required", required)
        writer.key("schema")
        writeSchema(to: &writer)
        writer.endObject()
    }
}

extension Method.Example {
    fileprivate func write(members: [JSONSchema.Member], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", title)
        writer.key("params")
        writer.beginArray()
        let values = try? JSON.parse(Array(params.utf8))
        for member in members {
            guard let value = values?[member.name] else { continue }
            writer.beginObject()
            writer.member("name", member.name.description)
            writer.member("value", value)
            writer.endObject()
        }
        writer.endArray()
        writer.key("result")
        writer.beginObject()
        writer.member("name", static: "result")
        writer.key("value")
        writer.raw(Array(result.utf8))
        writer.endObject()
        writer.endObject()
    }
}

extension NotificationDescription {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("summary", summary)
        writer.member("description", description)
        writer.key("params")
        params.write(to: &writer)
        writer.key("example")
        writer.raw(Array(example.utf8))
        CarpoolRPC.write("types", types, to: &writer) { $0.write(to: &$1) }
        writer.endObject()
    }
}

extension CallbackDescription {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("summary", summary)
        writer.member("description", description)
        CarpoolRPC.write("params", params, to: &writer) { $0.writeDescriptor(to: &$1) }
        writer.key("result")
        result.write(to: &writer)
        CarpoolRPC.write("examples", examples, to: &writer) { example, writer in
            writer.beginObject()
            writer.member("name", example.title)
            writer.key("params")
            writer.raw(Array(example.params.utf8))
            writer.key("result")
            writer.raw(Array(example.result.utf8))
            writer.endObject()
        }
        writer.endObject()
    }
}

extension EventDescription {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name.description)
        writer.member("summary", summary)
        writer.key("data")
        JSONSchema.object(data, additional: .later).write(to: &writer)
        writer.member("model", model)
        writer.key("example")
        writer.raw(Array(example.utf8))
        writer.endObject()
    }
}

extension RPCErrorKind {
    /// As OpenRPC has it, with the name in `data`.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("code", code)
        writer.member("message", summary)
        writer.key("data")
        writer.beginObject()
        writer.member("name", name.description)
        writer.endObject()
        writer.endObject()
    }

    fileprivate func writeDescription(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("code", code)
        writer.member("name", name.description)
        writer.member("retryable", isRetryable)
        writer.member("summary", summary)
        writer.member("hint", remedy)
        CarpoolRPC.write("members", members, to: &writer) { $0.writeDescriptor(to: &$1) }
        writer.endObject()
    }
}

/// Writes a member with an array whose elements a closure writes.
private func write<Element>(
    _ name: StaticString, _ elements: [Element], to writer: inout JSONWriter,
    _ body: (Element, inout JSONWriter) -> Void
) {
    writer.key(name)
    writer.beginArray()
    for element in elements { body(element, &writer) }
    writer.endArray()
}
