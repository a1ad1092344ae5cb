internal import CarpoolSession
internal import CarpoolSystem

/// Makes the decoders of the parameters of requests and sessions.
struct ParametersDecoderFactory {
    let worker: Worker
    /// The daemon's user.
    let owner: UInt32
    let callbacks: CallbackBroker
    let loop: EventLoop
    let connectivity: NetworkConnectivity
    let partials: PartialFileIndex?
    let files: FileStore

    /// - Parameter isOfSession: whether the parameters are a session's, whose callbacks outlive the connection of the
    ///   call.
    func decoder(
        for client: any Caller, files: CallFiles, ofSession isOfSession: Bool, tokens: any TokenProvider
    ) -> RequestParametersDecoder {
        let worker = worker.access(for: client.identity.workerShare)
        return RequestParametersDecoder(
            client: client, owner: owner, files: files, worker: worker,
            callbacks: ClientCallbackFactory(
                broker: callbacks, origin: isOfSession ? nil : client.profile.number,
                client: client.identity, worker: worker),
            languages: SessionService.languages, scheduler: loop, connectivity: connectivity,
            tokens: tokens, partials: partials, fileStore: self.files)
    }
}
