// How much of a response stands in a line to the client.
extension Connection {
    /// A client that has raised its line gets larger bodies inline, less the same room for head and metrics: up to 1 MiB, because they are
    /// written on the loop.
    var inlineBodyBytes: Int {
        let room = server.limits.inlineBodyBytes + max(0, maximumLineBytes - server.limits.lineBytes)
        return min(room, 1_048_576)
    }

    /// The line less what surrounds a record: the id, at most 1 KiB, and the members of the response.
    var recordBytes: Int { maximumLineBytes - 2_048 }

    var takesDescriptors: Bool { output.descriptorCount < server.limits.descriptorsPerConnection }
}
