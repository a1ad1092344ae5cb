internal import CarpoolCaller
internal import CarpoolJSON

/// The help as JSON: `docs/generate` writes the pages under `docs/cli` from it.
enum HelpDocument {
    static func json(of commands: [any Command.Type]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("help", HelpText.overview(of: commands))
        writer.key("commands")
        writer.beginArray()
        for command in commands { write(command, to: &writer) }
        writer.endArray()
        writer.key("exit_codes")
        writer.beginArray()
        ExitCode.visit { code in
            writer.beginObject()
            writer.member("code", Int(code.rawValue))
            writer.member("meaning", code.meaning)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.append(verbatim: [UInt8(ascii: "\n")])
        return writer.bytes
    }

    private static func write(_ command: any Command.Type, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", command.name)
        writer.member("summary", command.summary)
        writer.member("help", HelpText.of(command))
        writer.endObject()
    }
}
