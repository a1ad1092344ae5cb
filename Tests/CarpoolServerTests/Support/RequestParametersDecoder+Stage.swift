import CarpoolHTTP
import CarpoolRPC
@testable import CarpoolServer
import CarpoolSession
import CarpoolSystem

extension RequestParametersDecoder {
    /// A reader for a daemon of user 1000, whose callbacks are only recorded. The files that the parameters name are
    /// opened.
    static func make(_ client: any Client, params: Params = .none) throws -> RequestParametersDecoder {
        let loop = try EventLoop()
        let worker = Worker(loop: loop).access(for: .process)
        var found = CallFiles.Found()
        let names = CallFileNames(params)
        for name in names.paths where AbsolutePath.isOne(name.path) { found.open(name, worker.closer) }
        var files = TrustMaterialFiles(known: KnownTrustMaterial())
        for name in names.trust where name.paths.allSatisfy({ AbsolutePath.isOne($0.path) }) {
            found.read(name, &files)
        }
        found.destination = names.destination?.look()
        return RequestParametersDecoder(
            client: client, owner: 1_000, files: CallFiles(found, descriptorCount: 0), worker: worker,
            callbacks: RecordingFactory(), languages: [], scheduler: loop,
            connectivity: UnknownConnectivity(), tokens: try NoTokens(loop),
            fileStore: FileStore(work: InlineWork(), scheduler: loop))
    }
}
